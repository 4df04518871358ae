# The format of test/opencl: cases of test/conformance are tests, compiled for OpenCL and
# run on this machine's device. They are few, because PoCL takes a fifth of a second for
# each kernel: together they have each kernel op with each attribute that any case has.
# All cases: tools/check-opencl.sh.
import os

import lit.formats
import lit.Test
import lit.util

CASES = [
    "beit_relative", "clip", "clip_text", "deberta_v2_unshared", "deepseek_v3",
    "falcon_alibi_left_padding", "llama4_text", "llama_dynamic_ntk",
    "minimax_betas", "modernbert_mean", "mpt", "nanochat", "native/attention_everything",
    "native/branchnorm_step_0", "native/entropy_invariant_floor",
    "native/log_position_scale", "siglip", "swinv2", "t5_encoder",
]


class Cases(lit.formats.TestFormat):
    def getTestsInDirectory(self, suite, path_in_suite, lit_config, config):
        for name in CASES:
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
