import { createInterface } from 'node:readline/promises';
import type { PullDetail } from '../../client/schema/pull.ts';
import { toBatonError } from '../../core/baton-error.ts';
import { harmlessLine } from '../../core/text/harmless-line.ts';
import { connect } from '../../daemon/connect.ts';
import type { Surroundings } from '../../daemon/surroundings.ts';
import type { CommandFlags } from '../control/submit-command.ts';
import { exitCodes } from '../exit-codes.ts';
import { approvePull, mergePull, sendBackPull } from './decide.ts';
import { describePull, diffText } from './show-pulls.ts';

const keys = '[d]iff  [a]pprove  [m]erge  [s]end back  [r]ebase  [q]uit';

/**
 * `baton review`: shows a change and asks what to do with it. Where no person is at the terminal it only shows it. Each
 * answer does what the command of `baton pr` does, with the commit that was shown last: if another is in review by then,
 * it is refused, and the new one is shown.
 */
export async function reviewPull(reference: string, flags: CommandFlags, surroundings: Surroundings): Promise<number> {
  const { stdin, stdout } = surroundings;
  await using connection = await connect(flags, surroundings);
  const { project } = connection;
  const show = async (): Promise<PullDetail> => {
    const pull = await project.pull(reference);
    stdout.write(`${describePull(pull, flags, surroundings).join('\n')}\n`);
    return pull;
  };
  let shown = await show();
  if (stdin.isTTY !== true || stdout.isTTY !== true) return exitCodes.ok;
  const lines = createInterface({ input: stdin });
  const ask = async (text: string): Promise<string> => {
    stdout.write(text);
    const { value, done } = await lines[Symbol.asyncIterator]().next();
    return done === true ? 'q' : String(value).trim();
  };
  /** Each returns the exit code when the review has ended. */
  const acts = new Map<string, () => Promise<number | null>>([
    ['q', async () => exitCodes.ok],
    [
      'd',
      async () => {
        let diff = await project.pullDiff(reference, null);
        while (diff.head !== null && diff.head !== shown.head) {
          shown = await show();
          diff = await project.pullDiff(reference, null);
        }
        stdout.write(diffText(diff, false, surroundings));
        return null;
      },
    ],
    ['a', async () => approvePull(shown, flags, surroundings).then(() => null)],
    ['m', () => mergePull(shown, flags, surroundings)],
    [
      's',
      async () => {
        const note = await ask('What has to change? ');
        return note === '' ? null : sendBackPull(shown, [note], flags, surroundings);
      },
    ],
    ['r', () => sendBackPull(shown, [], { ...flags, rebase: true }, surroundings)],
  ]);
  try {
    for (;;) {
      const act = acts.get((await ask(`\n${keys} > `)).toLowerCase());
      try {
        const code = (await act?.()) ?? null;
        if (code !== null) return code;
      } catch (thrown) {
        // A refusal is an answer: the person chooses again.
        const { message, details } = toBatonError(thrown);
        stdout.write(`${harmlessLine(message)}\n`);
        if (details.code === 'head_moved') shown = await show();
      }
    }
  } finally {
    lines.close();
  }
}
