import type { AgentBackend } from '../backend.ts';
import { checkGitIdentity } from '../git-identity.ts';
import { programsIn } from '../programs-in.ts';
import { createAcpAgent } from './acp-agent.ts';
import { checkAcp } from './doctor/check-acp.ts';
import { presets } from './presets.ts';
import { acpOptions, acpProfile } from './settings.ts';

const programs = Object.entries(presets)
  .map(([name, { tested }]) => (tested === null ? `${name} (untested)` : name))
  .join(', ');

/** Any agent of the Agent Client Protocol. */
export const acpBackend: AgentBackend = {
  ...acpProfile,
  create: (settings, parts, { version }) => createAcpAgent(acpOptions(settings, version), parts),
  doctor: async (parts) => [...(await checkAcp(parts)), ...(await checkGitIdentity(parts))],
  init: {
    about: 'an agent of the Agent Client Protocol',
    questions: [
      {
        name: 'preset',
        value: 'program',
        help: `the program of the agent "acp": ${programs}`,
        question: `Program of the agent (${programs})?`,
      },
    ],
    // A person who is there can answer a question. codex-acp ends a call of a tool after five minutes.
    settings: ({ preset }) => ({
      approvals: 'auto',
      ask_timeout_ms: preset === 'codex-acp' ? 240_000 : 900_000,
    }),
    section: ({ preset = 'claude-agent-acp' }) => ({ acp: { preset } }),
    writesTemporaryFiles: false,
    notes: [
      'The agent may change files in its workspace and run any command without asking; the isolation of Baton limits what',
      '  a command sees. To be asked, remove agent.approvals.',
    ],
    withoutIsolation: {
      settings: () => ({}),
      notes: [
        'The agent asks before what its mode does not allow (`baton ask list`), because this machine cannot isolate commands;',
        '  `baton doctor` says why.',
      ],
    },
  },
  resume: (session, settings) => acpOptions(settings, '').preset?.resume?.(session) ?? null,
  needs: (settings) => {
    if (settings === null) return null;
    const { preset, command } = acpOptions(settings, '');
    return {
      paths: preset?.paths ?? [],
      ...(preset?.parts === undefined ? {} : { parts: preset.parts }),
      programs: programsIn(command),
      hosts: preset?.hosts ?? [],
    };
  },
  hasReadOnlyMode: false,
  commitsWork: true,
  docs: 'docs/agents/acp.md',
};
