import { createInterface } from 'node:readline/promises';
import { toBatonError } from '../../core/baton-error.ts';
import { harmlessLine } from '../../core/text/harmless-line.ts';
import { connect } from '../../daemon/connect.ts';
import type { Surroundings } from '../../daemon/surroundings.ts';
import type { CommandFlags } from '../control/submit-command.ts';
import { exitCodes } from '../exit-codes.ts';
import { approvePull, mergePull, sendBackPull } from './decide.ts';
import { describePull, diffText } from './show-pulls.ts';

const keys = '[d]iff  [a]pprove  [m]erge  [s]end back  [q]uit';

/**
 * `baton review`: shows a change and asks what to do with it. Where no person is at the terminal it only shows it. Each
 * answer does what the command of `baton pr` does.
 */
export async function reviewPull(reference: string, flags: CommandFlags, surroundings: Surroundings): Promise<number> {
  const { stdin, stdout } = surroundings;
  await using connection = await connect(flags, surroundings);
  const { project } = connection;
  stdout.write(`${describePull(await project.pull(reference), flags, surroundings).join('\n')}\n`);
  if (stdin.isTTY !== true || stdout.isTTY !== true) return exitCodes.ok;
  const lines = createInterface({ input: stdin });
  const ask = async (text: string): Promise<string> => {
    stdout.write(text);
    const { value, done } = await lines[Symbol.asyncIterator]().next();
    return done === true ? 'q' : String(value).trim();
  };
  try {
    for (;;) {
      const key = (await ask(`\n${keys} > `)).toLowerCase();
      if (key === 'q') return exitCodes.ok;
      try {
        if (key === 'd') stdout.write(diffText(await project.pullDiff(reference, null), false, surroundings));
        else if (key === 'a') await approvePull(reference, flags, surroundings);
        else if (key === 'm') return await mergePull(reference, flags, surroundings);
        else if (key === 's') {
          const note = await ask('What has to change? ');
          if (note !== '') return await sendBackPull(reference, [note], flags, surroundings);
        }
      } catch (thrown) {
        // A refusal is an answer: the person chooses again.
        stdout.write(`${harmlessLine(toBatonError(thrown).message)}\n`);
      }
    }
  } finally {
    lines.close();
  }
}
