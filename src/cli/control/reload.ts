import { BatonError } from '../../core/baton-error.ts';
import { waitingSettingText } from '../../core/settings/waiting-setting.ts';
import { harmlessLine } from '../../core/text/harmless-line.ts';
import type { Surroundings } from '../../daemon/surroundings.ts';
import { exitCodes } from '../exit-codes.ts';
import { jsonLine } from '../json-line.ts';
import { type CommandFlags, connectAs, sendCommand } from './submit-command.ts';

/**
 * `baton reload`: shows the changes of the workflow file that wait for a person, and lets exactly those count. A daemon
 * that starts reads the file as it is, so without one there is nothing to do.
 */
export async function reload(flags: CommandFlags, surroundings: Surroundings): Promise<number> {
  const { stdout } = surroundings;
  await using connection = await connectAs(flags, surroundings);
  if (!connection.isDaemon())
    throw new BatonError('command_refused', 'No daemon answers, so no change of the workflow file waits.', {
      nextStep: 'Start one with `baton start`: it reads the file as it is.',
      details: { code: 'no_daemon' },
    });
  const { workflow_waiting: waiting } = await connection.project.status();
  const seen = waiting === null ? {} : { revision: waiting.revision };
  if (!flags.json)
    for (const setting of waiting?.settings ?? []) stdout.write(`${harmlessLine(waitingSettingText(setting))}\n`);
  const command = await sendCommand(connection, { kind: 'reload', ...seen }, flags, surroundings);
  stdout.write(flags.json ? jsonLine({ command }) : `${command.text}\n`);
  return exitCodes.ok;
}
