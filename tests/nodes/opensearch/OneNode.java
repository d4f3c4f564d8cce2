import java.nio.file.Path;
import java.util.List;
import org.opensearch.analysis.common.CommonAnalysisPlugin;
import org.opensearch.common.settings.Settings;
import org.opensearch.core.common.transport.TransportAddress;
import org.opensearch.env.Environment;
import org.opensearch.http.HttpServerTransport;
import org.opensearch.node.Node;
import org.opensearch.painless.PainlessPlugin;
import org.opensearch.plugins.Plugin;
import org.opensearch.transport.Netty4Plugin;

/** One OpenSearch node on a free loopback port: `OneNode HOME`. Prints the port; ends with its stdin. */
public final class OneNode extends Node {
    private OneNode(Settings settings, List<Class<? extends Plugin>> plugins) {
        super(new Environment(settings, null), plugins, true);
    }

    public static void main(String[] arguments) throws Exception {
        Path home = Path.of(arguments[0]);
        Settings settings = Settings.builder()
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
        OneNode node = new OneNode(
            settings,
            List.of(Netty4Plugin.class, CommonAnalysisPlugin.class, PainlessPlugin.class));
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
