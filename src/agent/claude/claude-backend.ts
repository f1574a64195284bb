import type { AgentBackend } from '../backend.ts';
import { checkGitIdentity } from '../git-identity.ts';
import { programsIn } from '../programs-in.ts';
import { createClaudeAgent } from './claude-agent.ts';
import { checkClaude } from './doctor/check-claude.ts';
import { claudeHomeParts } from './home-parts.ts';
import { claudeLoginCommand, claudeResumeCommand } from './resume-command.ts';
import { claudeOptions, claudeProfile } from './settings.ts';

/** Claude Code, in its streaming JSON mode. */
export const claudeBackend: AgentBackend = {
  ...claudeProfile,
  create: (settings, parts) => createClaudeAgent(claudeOptions(settings), parts),
  doctor: async (parts) => [
    ...(await checkClaude(claudeOptions(parts.settings), parts)),
    ...(await checkGitIdentity(parts)),
  ],
  init: {
    about: 'Claude Code',
    questions: [],
    settings: () => ({}),
    section: () => ({ claude: { allowed_tools: ['Bash'] } }),
    firstSteps: [claudeLoginCommand(null)],
    writesTemporaryFiles: false,
    notes: [
      'Claude may change files in its workspace and run any command without asking; the isolation of Baton limits what',
      '  a command sees. To be asked before commands, remove claude.allowed_tools.',
    ],
    withoutIsolation: {
      section: () => ({ claude: { permission_mode: 'acceptEdits' } }),
      comments: {
        permission_mode:
          'No `allowed_tools: [Bash]`: this machine cannot isolate commands, so Claude asks before each one.',
      },
      notes: [
        'Claude may change files in its workspace without asking. It asks before it runs a command (`baton ask list`), because',
        '  this machine cannot isolate commands; `baton doctor` says why.',
      ],
    },
  },
  resume: (session, settings) => claudeResumeCommand(session, claudeOptions(settings)),
  needs: (settings) => ({
    paths: ['~/.claude', '~/.claude.json'],
    parts: claudeHomeParts,
    programs: settings === null ? [] : programsIn(claudeOptions(settings).command),
    // The first host serves the models, the others serve logins.
    hosts: ['api.anthropic.com', 'claude.ai', 'platform.claude.com'],
  }),
  hasReadOnlyMode: true,
  commitsWork: true,
  docs: 'docs/agents/claude.md',
};
