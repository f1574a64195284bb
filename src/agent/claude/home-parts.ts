import type { HomeParts } from '../backend.ts';

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
