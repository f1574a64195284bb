import type { Finding } from '../core/finding.ts';
import type { Surroundings } from '../daemon/surroundings.ts';
import { checkMachine } from './doctor/check-machine.ts';
import { checkWorkflow } from './doctor/check-workflow.ts';
import { exitCodes } from './exit-codes.ts';
import { commandsHere } from './place-flags.ts';

/** `baton doctor`: checks whether this machine is fit for Baton and, with a workflow file, for what that file needs. */
export async function doctor(
  workflow: string | null,
  flags: { readonly json?: boolean },
  surroundings: Surroundings,
): Promise<number> {
  const findings: Finding[] = [...(await checkMachine(surroundings))];
  if (workflow !== null) findings.push(...(await checkWorkflow(workflow, surroundings)));
  const healthy = findings.every(({ status }) => status !== 'failed');
  const json = { healthy, findings: findings.map(({ nextStep, ...rest }) => ({ ...rest, next_step: nextStep })) };
  surroundings.stdout.write(
    flags.json ? `${JSON.stringify(json, null, 2)}\n` : commandsHere({}, surroundings)(findings.map(line).join('')),
  );
  return healthy ? exitCodes.ok : exitCodes.error;
}

const signs = { ok: 'ok  ', warning: 'warn', failed: 'FAIL' };

function line({ check, status, message, nextStep }: Finding): string {
  const first = `${signs[status]} ${check.replaceAll('_', ' ').padEnd(16)} ${message}\n`;
  return nextStep === null ? first : `${first}     to fix it:       ${nextStep}\n`;
}
