import { createHash } from 'node:crypto';
import type { HomeParts } from './backend.ts';

/** From this length on, Claude Code adds a digest to the name of a folder of conversations. */
const longestName = 200;

/** Of the folder of Claude Code, which other programs around it use too. */
export function claudeHomeParts(workspace: string): HomeParts {
  const name = workspace.replaceAll(/[^a-zA-Z0-9]/g, '-');
  const own = `projects/${name}`;
  return {
    logins: ['.credentials.json'],
    conversations:
      name.length <= longestName ? { [own]: own } : { projects: `projects/baton${name.slice(-longestName)}` },
    settings: [
      ...['.claude.json', '.config.json', 'settings.json', 'settings.local.json', 'CLAUDE.md', 'rules', 'agents'],
      ...['commands', 'skills', 'plugins', 'hooks', 'output-styles', 'remote-settings.json', 'policy-limits.json'],
    ],
  };
}

/** Of the folder of Codex, which other programs around it use too. Codex finds a conversation by its id anywhere below `sessions`, so also a person who continues one by hand. */
export function codexHomeParts(workspace: string): HomeParts {
  return {
    logins: ['auth.json', '.credentials.json'],
    conversations: {
      sessions: `sessions/baton/${createHash('sha256').update(workspace).digest('hex').slice(0, 16)}`,
      // Says that a conversation is in use, also to a person.
      'thread-writer-locks': 'thread-writer-locks',
    },
    settings: [
      ...[
        'config.toml',
        'requirements.toml',
        'managed_config.toml',
        '.env',
        'AGENTS.md',
        'AGENTS.override.md',
        'rules',
      ],
      ...[
        'prompts',
        'skills',
        'plugins',
        'agents',
        'hooks.json',
        'installation_id',
        'models_cache.json',
        'version.json',
      ],
    ],
  };
}
