import { passed } from '../../core/finding.ts';
import type { AgentBackend } from '../backend.ts';
import { rehearsalHome } from './memory.ts';
import { createRehearsalAgent } from './rehearsal-agent.ts';
import { rehearsalSpeed } from './speed.ts';

/** A scripted agent, to try Baton without an AI. */
export const rehearsalBackend: AgentBackend = {
  name: 'rehearsal',
  environment: [rehearsalSpeed],
  homeVariable: rehearsalHome,
  reports: 'tokens',
  create: ({ agent: { readTimeoutMs, turnTimeoutMs } }, parts, { nodePath, program }) =>
    createRehearsalAgent({ nodePath, program, readTimeoutMs, turnTimeoutMs }, parts),
  doctor: async () => [passed('agent_program', 'rehearsal: included in Baton')],
  init: {
    about: 'scripted, without an AI',
    questions: [],
    settings: () => ({}),
    writesTemporaryFiles: false,
  },
  needs: () => ({ paths: [], hosts: [] }),
  hasReadOnlyMode: false,
  commitsWork: false,
  docs: 'docs/configuration.md#the-scripted-agent',
};
