import type { Now } from '../../client/schema/now.ts';
import { usdText } from '../../core/text/amount-text.ts';
import type { Surroundings } from '../../daemon/surroundings.ts';
import { connectAs, sendCommand } from '../control/submit-command.ts';
import { exitCodes } from '../exit-codes.ts';
import { answered, type BeginFlags } from '../intake/begin.ts';
import { jsonLine } from '../json-line.ts';
import { commandsHere } from '../place-flags.ts';
import { showTaskOfSetup } from './show.ts';

/** `baton setup`: says what it costs, asks for a setup, and says how to see what it proposes. */
export async function beginSetup(flags: BeginFlags, surroundings: Surroundings): Promise<number> {
  await using connection = await connectAs(flags, surroundings);
  const { stdout, stderr } = surroundings;
  if (!flags.json) stderr.write(`${costText(await connection.project.now())}\n`);
  const command = await sendCommand(connection, { kind: 'setup_begin' }, flags, surroundings);
  const id = String(command.data?.task ?? '');
  if (!flags.wait || command.status !== 'done') {
    const alone = command.status === 'waiting' && !connection.isDaemon() ? ' No daemon is running: `baton start`.' : '';
    const text = commandsHere(flags, surroundings)(`${command.text}${alone}`);
    stdout.write(flags.json ? jsonLine({ command }) : `${text}\n`);
    return exitCodes.ok;
  }
  if (!flags.json) stderr.write(`${id}: an agent looks at the repository.\n`);
  const task = await answered(connection, id, surroundings);
  await showTaskOfSetup(task, flags, surroundings);
  return task.status === 'failed' ? exitCodes.error : exitCodes.ok;
}

function costText({ vitals: { today } }: Now): string {
  const { roles = [], cost_usd, cost_limit_usd } = today;
  const own = roles.find(({ role }) => role === 'setup');
  const used = [
    ...(typeof own?.runs_limit === 'number' ? [`${own.runs} of ${own.runs_limit} runs (setup.runs_per_day)`] : []),
    ...(typeof own?.cost_limit_usd === 'number'
      ? [`${usdText(own.cost_usd)} of ${usdText(own.cost_limit_usd)} (setup.usd_per_day)`]
      : []),
    cost_limit_usd === null
      ? `${usdText(cost_usd)} by all agents, without a limit`
      : `${usdText(cost_usd)} of ${usdText(cost_limit_usd)} by all agents (limits.usd_per_day)`,
  ];
  return `A setup costs one run of an agent. Used today: ${used.join('; ')}.`;
}
