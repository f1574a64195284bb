import type { AgentBackend } from '../backend.ts';
import { checkGitIdentity } from '../git-identity.ts';
import { programsIn } from '../programs-in.ts';
import { createAcpAgent } from './acp-agent.ts';
import { checkAcp } from './doctor/check-acp.ts';
import { presets } from './presets.ts';
import { acpOptions, acpProfile } from './settings.ts';

/** Any agent of the Agent Client Protocol. */
export const acpBackend: AgentBackend = {
  ...acpProfile,
  create: (settings, parts, { version }) => createAcpAgent(acpOptions(settings, version), parts),
  doctor: async (parts) => [...(await checkAcp(parts)), ...(await checkGitIdentity(parts))],
  init: {
    about: 'an agent of the Agent Client Protocol',
    questions: [],
    settings: () => ({ approvals: 'auto' }),
    section: { acp: { preset: 'claude-agent-acp' } },
    firstSteps: [presets['claude-agent-acp'].install, 'claude auth login'],
    writesTemporaryFiles: false,
    notes: [
      'For another agent, set acp.preset to codex-acp, opencode or gemini, or acp.command to any program of the protocol.',
      'The agent may change files in its workspace and run any command without asking; the isolation of Baton limits what',
      '  a command sees. To be asked, remove agent.approvals.',
    ],
  },
  resume: (session, settings) => acpOptions(settings, '').preset?.resume?.(session) ?? null,
  needs: (settings) => {
    if (settings === null) return null;
    const { preset, command } = acpOptions(settings, '');
    return { paths: preset?.paths ?? [], programs: programsIn(command), hosts: preset?.hosts ?? [] };
  },
  hasReadOnlyMode: false,
  commitsWork: true,
  docs: 'docs/agents/acp.md',
};
