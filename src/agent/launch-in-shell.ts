import type { LiveProcess } from '../process/containment/live-process.ts';
import type { SessionRequest } from './agent.ts';
import { type AgentParts, launchAgent } from './launch-agent.ts';
import { keptName, loginShellText } from './shell-text.ts';

/**
 * Starts the command of the workflow in a login shell that keeps the variables of the account and hides denied ones.
 * The arguments are added to the last command of the text, whatever characters they have.
 */
export async function launchInShell(
  command: string,
  args: readonly string[],
  request: SessionRequest,
  parts: AgentParts,
): Promise<LiveProcess> {
  // Baton's own variables win over those of an account.
  const ofAccount = Object.entries(parts.accountEnv).filter(([name]) => !Object.hasOwn(request.env, name));
  const kept = Object.fromEntries(ofAccount.map(([name, value]) => [keptName(name), value]));
  const text = loginShellText(
    args.length === 0 ? command : `${command} "$@"`,
    parts.denyEnv,
    ofAccount.map(([name]) => name),
  );
  const program = { command: 'bash', args: ['-lc', text, ...(args.length === 0 ? [] : ['bash', ...args])] };
  return launchAgent({ ...program, stdin: 'open' }, { ...request, env: { ...request.env, ...kept } }, parts);
}
