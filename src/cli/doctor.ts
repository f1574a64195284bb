import { checkMachine } from './doctor/check-machine.ts';
import { checkWorkflow } from './doctor/check-workflow.ts';
import type { Finding } from './doctor/finding.ts';
import { exitCodes } from './exit-codes.ts';
import type { Surroundings } from './surroundings.ts';

/** `baton doctor`: whether this machine, and with a workflow file what that needs, is fit for Baton. */
export async function doctor(
  workflow: string | null,
  flags: { readonly json?: boolean },
  surroundings: Surroundings,
): Promise<number> {
  const findings: Finding[] = [...(await checkMachine(surroundings))];
  if (workflow !== null) findings.push(...(await checkWorkflow(workflow, surroundings)));
  const healthy = findings.every(({ ok }) => ok);
  const { stdout } = surroundings;
  stdout.write(flags.json ? `${JSON.stringify({ healthy, findings }, null, 2)}\n` : findings.map(line).join(''));
  return healthy ? exitCodes.ok : exitCodes.error;
}

function line({ name, ok, detail, mend }: Finding): string {
  const first = `${ok ? (mend === null ? 'ok  ' : 'warn') : 'FAIL'} ${name.padEnd(16)} ${detail}\n`;
  return mend === null ? first : `${first}     mend it with:    ${mend}\n`;
}
