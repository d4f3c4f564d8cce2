import java.nio.file.Path;
import java.util.List;
import org.opensearch.analysis.common.CommonAnalysisPlugin;
import org.opensearch.env.Environment;
import org.opensearch.node.Node;
import org.opensearch.painless.PainlessPlugin;
import org.opensearch.transport.Netty4Plugin;

/** One node of OpenSearch 2: `OneNode HOME`. */
public final class OneNode extends Node {
    private OneNode(Path home) {
        super(
            new Environment(Started.settings(home), null),
            List.of(Netty4Plugin.class, CommonAnalysisPlugin.class, PainlessPlugin.class),
            true);
    }

    public static void main(String[] arguments) throws Exception {
        Started.run(new OneNode(Path.of(arguments[0])));
    }
}
