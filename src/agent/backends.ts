import { acpBackend } from './acp/acp-backend.ts';
import type { AgentBackend } from './backend.ts';
import { claudeBackend } from './claude/claude-backend.ts';
import { codexBackend } from './codex/codex-backend.ts';
import { commandBackend } from './command/command-backend.ts';
import { rehearsalBackend } from './rehearsal/rehearsal-backend.ts';

/** The agent backends that a workflow file may name, one line each. A file that names none means the first. */
export const agentBackends: readonly AgentBackend[] = [
  codexBackend,
  claudeBackend,
  acpBackend,
  commandBackend,
  rehearsalBackend,
];
