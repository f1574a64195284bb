// Feeds changed inputs to every parser that reads bytes of others: `npm run fuzz -- --inputs 1000000`. A failing input prints
// the command that repeats it; `--target NAME` takes one parser, `--from N` begins at another input.
import { spawnSync } from 'node:child_process';
import path from 'node:path';
import { parseArgs } from 'node:util';

const root = path.resolve(import.meta.dirname, '../..');
const { values } = parseArgs({
  options: {
    inputs: { type: 'string', default: '50000' },
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
