import type { Surroundings } from '../../daemon/surroundings.ts';
import { connectAs, sendCommand } from '../control/submit-command.ts';
import { exitCodes } from '../exit-codes.ts';
import { answered, type BeginFlags, tellPrice } from '../intake/begin.ts';
import { jsonLine } from '../json-line.ts';
import { commandsHere } from '../place-flags.ts';
import { showTaskOfSetup } from './show.ts';

/** `baton setup`: says what it costs, asks for a setup, and says how to see what it proposes. */
export async function beginSetup(flags: BeginFlags, surroundings: Surroundings): Promise<number> {
  await using connection = await connectAs(flags, surroundings);
  const { stdout } = surroundings;
  await tellPrice(connection, 'setup', flags, surroundings);
  const command = await sendCommand(connection, { kind: 'setup_begin' }, flags, surroundings);
  const id = String(command.data?.task ?? '');
  if (!flags.wait || command.status !== 'done') {
    const alone = command.status === 'waiting' && !connection.isDaemon() ? ' No daemon is running: `baton start`.' : '';
    const text = commandsHere(flags, surroundings)(`${command.text}${alone}`);
    stdout.write(flags.json ? jsonLine({ command }) : `${text}\n`);
    return exitCodes.ok;
  }
  const task = await answered(connection, id, flags, surroundings);
  await showTaskOfSetup(task, flags, surroundings);
  return task.status === 'failed' ? exitCodes.error : exitCodes.ok;
}
