// @module-tag full
import { execFileSync } from 'node:child_process';
import { existsSync, mkdirSync } from 'node:fs';
import path from 'node:path';
import { expect, it } from 'vitest';
import type { Containment } from '../../../src/process/containment/containment.ts';
import { shell } from '../../fake/openai/scenario.ts';
import { describeWithEachContainment } from '../../process/real-children.ts';
import { describeWithCodex } from '../codex-binary.ts';
import { type CodexScene, useCodexScenes } from './codex-scene.ts';

// The folders of the tests are below the folder for temporary files, which the sandbox allows by default.
const confined = {
  threadSandbox: 'workspace-write',
  turnSandboxPolicy: {
    type: 'workspaceWrite',
    writableRoots: [],
    networkAccess: false,
    excludeTmpdirEnvVar: true,
    excludeSlashTmp: true,
  },
} as const;

const identity = ['-c', 'user.name=Somebody', '-c', 'user.email=somebody@example.org'];

await describeWithCodex('the sandbox of a real Codex', (codex) => {
  const makeScene = useCodexScenes(codex);
  const commit = `echo made > made.txt; git add -A && git ${identity.join(' ')} commit -qm made; touch ../outside.txt`;
  const confinedScene = (containment: Containment = 'marker_sweep'): Promise<CodexScene> =>
    makeScene({
      containment,
      scenario: { otherwise: [{ calls: [shell(commit)] }, { message: ({ lastOutput }) => lastOutput }] },
      options: confined,
    });

  describeWithEachContainment('a commit', (containment) => {
    // @conforms real.22
    it('lets the agent commit when the git directory is outside the workspace and was named', async () => {
      const scene = await confinedScene(containment);
      const gitDirectory = path.join(scene.folder, 'git-directories', 'one');
      mkdirSync(path.dirname(gitDirectory));
      execFileSync('git', ['init', '-q', '--separate-git-dir', gitDirectory, scene.workspace]);
      const { complete } = await scene.open({ writableRoots: [gitDirectory] });
      await complete('Commit it.');
      expect(subjects(scene)).toEqual(['made']);
      expect(existsSync(path.join(scene.folder, 'outside.txt'))).toBe(false);
    });
  });

  // @conforms real.22
  it('lets the agent commit when the git directory is in the workspace', async () => {
    const scene = await confinedScene();
    execFileSync('git', ['init', '-q', scene.workspace]);
    const { complete } = await scene.open();
    await complete('Commit it.');
    expect(subjects(scene)).toEqual(['made']);
    expect(existsSync(path.join(scene.folder, 'outside.txt'))).toBe(false);
  });

  it('denies the agent a git directory that was not named', async () => {
    const scene = await confinedScene();
    const gitDirectory = path.join(scene.folder, 'git-directory');
    execFileSync('git', ['init', '-q', '--separate-git-dir', gitDirectory, scene.workspace]);
    const { complete } = await scene.open();
    expect(await complete('Commit it.')).toContain('Read-only file system');
  });
});

function subjects({ workspace }: CodexScene): string[] {
  return execFileSync('git', ['log', '--format=%s'], { cwd: workspace, encoding: 'utf8' }).trim().split('\n');
}
