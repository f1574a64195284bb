import { realpathSync } from 'node:fs';
import { rename, rm, stat, writeFile } from 'node:fs/promises';
import { createInterface } from 'node:readline/promises';
import { BatonError } from '../../core/baton-error.ts';
import { harmlessLines } from '../../core/text/harmless-line.ts';
import type { Surroundings } from '../../daemon/surroundings.ts';
import { type CommandFlags, connectAs, sendCommand } from '../control/submit-command.ts';
import { exitCodes } from '../exit-codes.ts';
import { jsonLine } from '../json-line.ts';
import { commandsHere } from '../place-flags.ts';
import { type PlannedEdit, planEdit } from './plan-edit.ts';

export interface AcceptFlags extends CommandFlags {
  readonly yes?: boolean;
}

/**
 * `baton setup accept`: shows the change of the workflow file, asks, and writes it. This program does it, for the person
 * who runs it; neither the daemon nor an agent edits the file. Run again after a crash, it finishes what is missing.
 */
export async function acceptSetup(id: string, flags: AcceptFlags, surroundings: Surroundings): Promise<number> {
  await using connection = await connectAs(flags, surroundings);
  const { stdout, stderr } = surroundings;
  const { status, setup } = await connection.project.task(id);
  if (setup === null || (status !== 'proposed' && status !== 'accepted'))
    throw refusal('task_not_open', `${id} has no proposal to accept: it is ${status}.`, 'See `baton setup list`.');
  const edit = await planEdit(setup, flags, surroundings);
  if (edit.diff !== '') {
    if (edit.isChanged) throw fileChanged(edit);
    if (!flags.json) stdout.write(harmlessLines(edit.diff));
    await agreed(flags, surroundings);
    await write(edit, surroundings.chance.id());
  }
  const command = await sendCommand(
    connection,
    { kind: 'task_accept', task: id, revision: edit.revision },
    flags,
    surroundings,
  );
  if (!flags.json && connection.isDaemon())
    stderr.write(commandsHere(flags, surroundings)('If the daemon waits for your consent: baton reload\n'));
  const text = edit.diff === '' ? `${edit.path} already has these commands.` : `Wrote ${edit.path}.`;
  stdout.write(flags.json ? jsonLine({ command, path: edit.path, diff: edit.diff }) : `${text}\n`);
  return exitCodes.ok;
}

/** Without a terminal only `--yes` is a yes. */
async function agreed({ yes, json }: AcceptFlags, { stdin, stderr }: Surroundings): Promise<void> {
  if (yes === true) return;
  const nextStep = 'Answer yes, or use `--yes`.';
  if (stdin.isTTY !== true || json === true) throw refusal('not_agreed', 'The change needs your consent.', nextStep);
  const terminal = createInterface({ input: stdin, output: stderr });
  try {
    const answer = await terminal.question('Write this into the workflow file (yes or no)? [no] ').catch(() => 'no');
    if (!/^y(es)?$/i.test(answer.trim())) throw refusal('not_agreed', 'The workflow file stays as it is.', nextStep);
  } finally {
    terminal.close();
  }
}

/** Whole or not at all: a daemon may read the file at any time. A link stays a link. */
async function write({ path: file, after }: PlannedEdit, unique: string): Promise<void> {
  const target = realpathSync(file);
  const draft = `${target}.${unique}`;
  try {
    await writeFile(draft, after, { mode: (await stat(target)).mode, flag: 'wx' });
    await rename(draft, target);
  } catch (cause) {
    await rm(draft, { force: true });
    throw new BatonError('init_refused', `${target} cannot be written.`, {
      cause,
      nextStep: 'Check that you may write to the file and its folder.',
      details: { path: target, problem: 'not_writable' },
    });
  }
}

function fileChanged({ path: file }: PlannedEdit): BatonError {
  const text = `${file} has changed since the commands were proven.`;
  return refusal('file_changed', text, 'Ask for another setup with `baton setup`, or write the commands yourself.');
}

function refusal(code: string, text: string, nextStep: string): BatonError {
  return new BatonError('command_refused', text, { nextStep, details: { code } });
}
