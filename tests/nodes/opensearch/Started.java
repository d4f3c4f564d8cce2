import java.nio.file.Path;
import org.opensearch.common.settings.Settings;
import org.opensearch.core.common.transport.TransportAddress;
import org.opensearch.http.HttpServerTransport;
import org.opensearch.node.Node;

/** What the nodes of all releases have in common. */
final class Started {
    private Started() { }

    /** The settings of one node on free loopback ports, with all its files under home. */
    static Settings settings(Path home) {
        return Settings.builder()
            .put("path.home", home)
            .put("path.data", home.resolve("data"))
            .put("cluster.name", "tests")
            .put("node.name", "one")
            .put("discovery.type", "single-node")
            .put("network.host", "127.0.0.1")
            .put("http.port", "0")
            .put("transport.port", "0")
            .put("transport.type", "netty4")
            .put("http.type", "netty4")
            .put("cluster.routing.allocation.disk.threshold_enabled", false)
            .put("cluster.max_shards_per_node", 2000)
            .put("action.auto_create_index", false)
            .build();
    }

    /** Starts the node and prints its port; the node ends when standard input does. */
    static void run(Node node) throws Exception {
        node.start();
        TransportAddress address =
            node.injector().getInstance(HttpServerTransport.class).boundAddress().publishAddress();
        System.out.println(address.getPort());
        System.out.flush();
        while (System.in.read() >= 0) { }
        node.close();
        System.exit(0);
    }
}
