# The format of test/opencl: every third case of test/conformance is a test, compiled
# for OpenCL and run on this machine's device. All of them: tools/check-opencl.sh.
import os

import lit.formats
import lit.Test
import lit.util


class ThirdOfConformance(lit.formats.TestFormat):
    def getTestsInDirectory(self, suite, path_in_suite, lit_config, config):
        root = os.path.join(config.source, "test", "conformance")
        found = sorted(os.path.relpath(folder, root)
                       for folder, _, files in os.walk(root)
                       if "case.json" in files)
        for name in found[1::3]:
            yield lit.Test.Test(suite, path_in_suite + tuple(name.split("/")),
                                config)

    def execute(self, test, lit_config):
        if "mille" not in test.config.available_features:
            # As every test that calls it: the gate builds it, or has failed by then.
            return lit.Test.UNSUPPORTED, "mille is not built"
        name = "/".join(test.path_in_suite[1:])
        script = os.path.join(test.config.source, "tools", "check-opencl.sh")
        folder = test.getExecPath() + ".tmp"
        environment = dict(test.config.environment,
                           MILLE=os.path.join(test.config.build, "bin", "mille"))
        try:
            out, errors, status = lit.util.executeCommand(
                [script, "--folder=" + folder, "=" + name], env=environment,
                timeout=lit_config.maxIndividualTestTime)
        except lit.util.ExecuteCommandTimeoutException as late:
            return lit.Test.TIMEOUT, late.out
        return (lit.Test.FAIL if status else lit.Test.PASS), out + errors
