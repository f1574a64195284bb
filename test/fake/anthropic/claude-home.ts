import { mkdirSync } from 'node:fs';
import path from 'node:path';

export interface ClaudeHome {
  /** For `CLAUDE_CONFIG_DIR`. */
  readonly home: string;
  /** Variables with which Claude Code finds this home, the fake model and nothing of the person who runs it. */
  readonly env: Readonly<Record<string, string>>;
}

/** A home of Claude Code in `folder`. With all of these variables the fake model is the only address that it looks for. */
export function claudeHome(folder: string, baseUrl: string): ClaudeHome {
  const home = path.join(folder, 'claude-home');
  const user = path.join(folder, 'user-home');
  const temporary = path.join(folder, 'temporary');
  for (const each of [home, user, temporary]) mkdirSync(each, { recursive: true });
  return {
    home,
    env: { HOME: user, CLAUDE_CONFIG_DIR: home, TMPDIR: temporary, ...fakeModelVariables(baseUrl) },
  };
}

export function fakeModelVariables(baseUrl: string): Record<string, string> {
  return {
    ANTHROPIC_BASE_URL: baseUrl,
    ANTHROPIC_API_KEY: 'sk-ant-not-a-key',
    CLAUDE_CODE_DISABLE_NONESSENTIAL_TRAFFIC: '1',
    CLAUDE_CODE_MAX_RETRIES: '1',
  };
}
