import type { LiveProcess } from '../../../process/containment/live-process.ts';
import type { SessionRequest } from '../../agent.ts';
import { type AgentParts, launchAgent } from '../../launch-agent.ts';
import { keptName, loginShellText } from '../shell-text.ts';

/**
 * Starts the command of the workflow in a login shell that keeps the variables of the account and hides denied ones.
 */
export async function launchCodex(command: string, request: SessionRequest, parts: AgentParts): Promise<LiveProcess> {
  // Baton's own variables win over those of an account.
  const ofAccount = Object.entries(parts.accountEnv).filter(([name]) => !Object.hasOwn(request.env, name));
  const kept = Object.fromEntries(ofAccount.map(([name, value]) => [keptName(name), value]));
  const text = loginShellText(
    command,
    parts.denyEnv,
    ofAccount.map(([name]) => name),
  );
  const program = { command: 'bash', args: ['-lc', text], stdin: 'open' as const };
  return launchAgent(program, { ...request, env: { ...request.env, ...kept } }, parts);
}
