import type { Command } from '../../client/schema/command.ts';
import type { PullDetail } from '../../client/schema/pull.ts';
import { BatonError } from '../../core/baton-error.ts';
import { rebaseNote } from '../../core/pull/rebase-note.ts';
import { harmlessLine } from '../../core/text/harmless-line.ts';
import type { Connection } from '../../daemon/connect.ts';
import type { Surroundings } from '../../daemon/surroundings.ts';
import { type CommandFlags, connectAs, sendCommand } from '../control/submit-command.ts';
import { exitCodes } from '../exit-codes.ts';
import { textOrStdin } from '../issue/read-stdin.ts';
import { jsonLine } from '../json-line.ts';
import { finishMerge } from './person-git.ts';

export interface MergeFlags extends CommandFlags {
  readonly method?: 'merge' | 'squash' | 'rebase';
  readonly ignoreChecks?: boolean;
}

export interface SendBackFlags extends CommandFlags {
  /** `path:line: text`, once for each comment. */
  readonly comment?: readonly LineComment[];
  readonly rebase?: boolean;
}

export interface LineComment {
  readonly path: string;
  readonly line: number;
  readonly text: string;
}

/** The most that is read from stdin; the length of a note has its own limit. */
const mostNoteBytes = 1024 * 1024;

type Decide = (connection: Connection, pull: PullDetail) => Promise<Command>;

/** A pull request as the person saw it, or the number or issue of one: then the commit that is in review now is meant. */
type Meant = PullDetail | string;

/** The decision names the commit that it is about, so that no other is approved or merged. */
async function decided(meant: Meant, flags: CommandFlags, surroundings: Surroundings, decide: Decide): Promise<number> {
  await using connection = await connectAs(flags, surroundings);
  const pull = typeof meant === 'string' ? await connection.project.pull(meant) : meant;
  const command = await decide(connection, pull);
  surroundings.stdout.write(flags.json ? jsonLine({ command }) : `${harmlessLine(command.text)}\n`);
  return exitCodes.ok;
}

/** `baton pr approve`. */
export function approvePull(meant: Meant, flags: CommandFlags, surroundings: Surroundings): Promise<number> {
  return decided(meant, flags, surroundings, (connection, { number: pull, head }) =>
    sendCommand(connection, { kind: 'pr_approve', pull, head }, flags, surroundings),
  );
}

/** `baton pr close`: without merging. */
export function closePull(reference: string, flags: CommandFlags, surroundings: Surroundings): Promise<number> {
  return decided(reference, flags, surroundings, (connection, { number: pull }) =>
    sendCommand(connection, { kind: 'pr_close', pull }, flags, surroundings),
  );
}

/** `baton pr check`: one check, or all that have not passed. */
export function checkPull(
  reference: string,
  name: string | undefined,
  flags: CommandFlags,
  surroundings: Surroundings,
): Promise<number> {
  return decided(reference, flags, surroundings, (connection, { number: pull, head }) => {
    const request = { kind: 'pr_check', pull, head, ...(name === undefined ? {} : { name }) } as const;
    return sendCommand(connection, request, flags, surroundings);
  });
}

/** `baton pr send-back`: with a note, comments on lines, or the wish to rebase. */
export function sendBackPull(
  meant: Meant,
  words: readonly string[],
  flags: SendBackFlags,
  surroundings: Surroundings,
): Promise<number> {
  return decided(meant, flags, surroundings, async (connection, { number: pull, head }) => {
    const said = words.length === 0 ? '' : await textOrStdin(words.join(' '), surroundings, mostNoteBytes);
    const note = [said.trim(), ...(flags.rebase === true ? [rebaseNote] : [])]
      .filter((part) => part !== '')
      .join('\n\n');
    const comments = flags.comment ?? [];
    if (note === '' && comments.length === 0)
      throw new BatonError('command_refused', 'Say what has to change.', {
        nextStep: `Run \`baton pr send-back ${pull} "what has to change"\`.`,
        details: { code: 'nothing_to_say' },
      });
    const request = {
      kind: 'pr_send_back',
      pull,
      head,
      ...(note === '' ? {} : { note }),
      ...(comments.length === 0 ? {} : { comments: comments.map((comment) => ({ ...comment })) }),
    } as const;
    return sendCommand(connection, request, flags, surroundings);
  });
}

/**
 * `baton pr merge`: the daemon merges. It does not write a folder where the base is checked out; in that folder the
 * person's own git does it, forward only.
 */
export function mergePull(meant: Meant, flags: MergeFlags, surroundings: Surroundings): Promise<number> {
  return decided(meant, flags, surroundings, async (connection, pull) => {
    const merge = (): Promise<Command> =>
      sendCommand(
        connection,
        {
          kind: 'pr_merge',
          pull: pull.number,
          head: pull.head,
          ...(flags.method === undefined ? {} : { method: flags.method }),
          ...(flags.ignoreChecks === true ? { ignores_checks: true } : {}),
        },
        flags,
        surroundings,
      );
    try {
      return await merge();
    } catch (thrown) {
      if (!(await finishMerge(thrown, pull, surroundings))) throw thrown;
      // The daemon finds the change in its base, and finishes the issue.
      return await merge();
    }
  });
}
