import { expect, it } from 'vitest';
import { acpBackend } from '../../../src/agent/acp/acp-backend.ts';
import { claudeBackend } from '../../../src/agent/claude/claude-backend.ts';
import { codexBackend } from '../../../src/agent/codex/codex-backend.ts';
import { settings } from '../../fake/settings.ts';

const workspace = '/home/me/workspaces/BAT-1';
const usual = settings();
const acp = { ...(usual.backends.acp as object), command: null, mode: null, model: null, tools: [] };

it.each([
  ['claude-agent-acp', claudeBackend],
  ['codex-acp', codexBackend],
] as const)('%s gets the same parts of its folder as the program around which it is built', (preset, inner) => {
  const given = { ...usual, backends: { ...usual.backends, acp: { ...acp, preset } } };
  const parts = acpBackend.needs(given)?.parts?.(workspace);
  expect(parts).toBeDefined();
  expect(parts).toEqual(inner.needs(null)?.parts?.(workspace));
});
