import path from 'node:path';
import type { BackendNeeds } from '../backend.ts';
import { programsIn } from '../programs-in.ts';

/** Where well-known agents keep their login and their threads, by the name of the program. */
const knownPrograms: Readonly<Record<string, readonly string[]>> = {
  claude: ['~/.claude', '~/.claude.json', '~/.config/claude'],
  gemini: ['~/.gemini'],
  qwen: ['~/.qwen'],
  opencode: ['~/.local/share/opencode', '~/.config/opencode', '~/.local/state/opencode'],
  goose: ['~/.config/goose', '~/.local/share/goose'],
  amp: ['~/.config/amp', '~/.local/share/amp'],
  'cursor-agent': ['~/.cursor', '~/.config/cursor'],
  copilot: ['~/.copilot'],
  aider: ['~/.aider', '~/.aider.conf.yml'],
};

/** What the programs that a command names need. Of an unknown program nothing is known but where it is. */
export function needsOf(command: string): BackendNeeds {
  const names = command.split(/[\s;&|()'"]+/).map((word) => path.basename(word));
  const paths = names.flatMap((name) => (Object.hasOwn(knownPrograms, name) ? (knownPrograms[name] ?? []) : []));
  return { paths: [...new Set(paths)], programs: programsIn(command), hosts: [] };
}
