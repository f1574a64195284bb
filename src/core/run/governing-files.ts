import { harmlessLine } from '../text/harmless-line.ts';

/**
 * Files that take effect as soon as they are merged or checked out: the workflow file, the instructions and settings of
 * coding agents, and CI. Baton marks a change that touches one, wherever it shows the change.
 */
const names: ReadonlySet<string> = new Set([
  ...['workflow.md', 'agents.md', 'agents.override.md', 'claude.md', 'claude.local.md', 'gemini.md', '.mcp.json'],
  ...['opencode.json', 'opencode.jsonc', 'crush.json', '.crush.json', '.aider.conf.yml', '.goosehints', '.clinerules'],
  ...['.cursorrules', '.windsurfrules', '.gitlab-ci.yml', '.travis.yml', '.drone.yml', '.woodpecker.yml'],
  ...['jenkinsfile', 'azure-pipelines.yml', 'bitbucket-pipelines.yml', 'appveyor.yml', '.cirrus.yml'],
]);

const folders: ReadonlySet<string> = new Set([
  ...['.codex', '.claude', '.cursor', '.gemini', '.windsurf', '.agents'],
  ...['.opencode', '.qwen', '.kiro', '.roo', '.clinerules', '.continue', '.tekton', '.teamcity', '.semaphore'],
  ...['.github', '.gitlab', '.circleci', '.buildkite', '.woodpecker', '.forgejo', '.gitea'],
]);

/** No one would read more. */
const mostNamed = 20;
const mostShown = 5;

/**
 * Those of these paths, at any depth; upper and lower case are the same, as on some file systems. The workflow file comes
 * first, so that no number of others can push it out of the list: whether its changes wait depends on that.
 */
export function governingFiles(paths: readonly string[], workflowNames: readonly string[]): readonly string[] {
  const isOwn = (path: string): boolean => isNamed(path, workflowNames);
  const others = paths.filter((path) => {
    const parts = path.toLowerCase().split('/');
    const name = parts.pop() ?? '';
    return !isOwn(path) && (names.has(name) || parts.some((folder) => folders.has(folder)));
  });
  return [...paths.filter(isOwn), ...others].slice(0, mostNamed);
}

/** Whether the last part of the path is one of these names. */
export function isNamed(path: string, wanted: readonly string[]): boolean {
  const name = path.slice(path.lastIndexOf('/') + 1).toLowerCase();
  return wanted.some((each) => each.toLowerCase() === name);
}

/** For people; null when a change touches no such file. */
export function governingText(governing: readonly string[] | null | undefined): string | null {
  if (governing === undefined) return null;
  if (governing === null) return 'Baton could not read whether it changes files that control agents or CI';
  const shown = governing.slice(0, mostShown).map(harmlessLine).join(', ');
  return `it changes files that control agents or CI: ${shown}${governing.length > mostShown ? ', …' : ''}`;
}
