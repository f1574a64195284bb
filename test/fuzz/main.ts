// Feeds a million changed inputs to the parsers that read bytes of others, in all; `--inputs N` for more or fewer. A failing
// input prints the command that repeats it; `--target NAME` takes one parser, `--from N` begins at another input.
import { spawnSync } from 'node:child_process';
import path from 'node:path';
import { parseArgs } from 'node:util';

const root = path.resolve(import.meta.dirname, '../..');
const { values } = parseArgs({
  options: {
    inputs: { type: 'string', default: '1000000' },
    from: { type: 'string', default: '0' },
    target: { type: 'string', default: '' },
  },
});
const vitest = path.join(root, 'node_modules/vitest/vitest.mjs');
const { status } = spawnSync(process.execPath, [vitest, 'run', 'test/fuzz', '--retry=0'], {
  cwd: root,
  stdio: 'inherit',
  env: {
    ...process.env,
    BATON_FUZZ_INPUTS: values.inputs,
    BATON_FUZZ_FROM: values.from,
    BATON_FUZZ_TARGET: values.target,
  },
});
process.exitCode = status ?? 1;
