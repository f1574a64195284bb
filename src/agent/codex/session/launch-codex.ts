import type { LiveProcess } from '../../../process/containment/live-process.ts';
import type { SessionRequest } from '../../agent.ts';
import { type AgentParts, launchAgent } from '../../launch-agent.ts';
import { keptName, loginShellText } from '../shell-text.ts';

/** Starts the command of the workflow in a login shell, which neither loses what the account sets nor sees what it must not. */
export async function launchCodex(command: string, request: SessionRequest, parts: AgentParts): Promise<LiveProcess> {
  // What Baton says of its own wins over what an account sets.
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
