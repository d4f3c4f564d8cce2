import java.nio.file.Path;
import java.util.List;
import org.opensearch.Version;
import org.opensearch.analysis.common.CommonAnalysisModulePlugin;
import org.opensearch.env.Environment;
import org.opensearch.node.Node;
import org.opensearch.painless.PainlessModulePlugin;
import org.opensearch.plugins.Plugin;
import org.opensearch.plugins.PluginInfo;
import org.opensearch.transport.Netty4ModulePlugin;

/** One node of OpenSearch 3, where modules have other names and are described: `OneNode HOME`. */
public final class OneNode extends Node {
    private OneNode(Path home) {
        super(
            new Environment(Started.settings(home), null),
            List.of(
                described(Netty4ModulePlugin.class),
                described(CommonAnalysisModulePlugin.class),
                described(PainlessModulePlugin.class)),
            true);
    }

    private static PluginInfo described(Class<? extends Plugin> module) {
        String name = module.getName();
        return new PluginInfo(name, "", "", Version.CURRENT, "21", name, null, List.of(), false);
    }

    public static void main(String[] arguments) throws Exception {
        Started.run(new OneNode(Path.of(arguments[0])));
    }
}
