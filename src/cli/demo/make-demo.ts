import { mkdir, mkdtemp, readdir, writeFile } from 'node:fs/promises';
import path from 'node:path';
import { systemChance } from '../../clock/system-chance.ts';
import { systemClock } from '../../clock/system-clock.ts';
import { BatonError } from '../../core/baton-error.ts';
import { childEnvironment, usualVariables } from '../../process/child-environment.ts';
import { runToEnd } from '../../process/run-to-end.ts';
import type { Surroundings } from '../surroundings.ts';
import { demoProject } from './demo-project.ts';
import { demoTickets } from './demo-tickets.ts';
import { demoWorkflow } from './demo-workflow.ts';

export interface DemoFolder {
  readonly root: string;
  readonly workflow: string;
  readonly project: string;
}

/** Signing is for people: with their key a commit of the demo would ask for a password, or fail. */
const demoAuthor = ['user.name=Baton demo', 'user.email=demo@example.invalid', 'commit.gpgsign=false'].flatMap(
  (setting) => ['-c', setting],
);

/** Makes the scratch folder of a demo: a git repository with real files, the workflow file, the tickets. */
export async function makeDemo(folder: string | undefined, surroundings: Surroundings): Promise<DemoFolder> {
  const root =
    folder === undefined
      ? await mkdtemp(path.join(surroundings.tmpDir, 'baton-demo-'))
      : path.resolve(surroundings.cwd, folder);
  const project = path.join(root, 'project');
  const workflow = path.join(root, 'WORKFLOW.md');
  await makeEmptyFolder(root);
  await mkdir(project);
  await writeTree(project, demoProject);
  await git(project, ['init', '--quiet', '--initial-branch=main'], surroundings);
  await git(project, ['add', '--all'], surroundings);
  await git(project, [...demoAuthor, 'commit', '--quiet', '--message=Begin'], surroundings);
  await writeFile(workflow, demoWorkflow);
  await writeFile(path.join(root, 'issues.json'), JSON.stringify(issuesFile(), null, 2));
  return { root, workflow, project };
}

/** The folder may hold a demo already, or somebody's own WORKFLOW.md: nothing is written over (law 8). */
async function makeEmptyFolder(root: string): Promise<void> {
  const nextStep = 'Choose another folder with --dir, or leave --dir out.';
  try {
    await mkdir(root, { recursive: true });
  } catch (cause) {
    throw new BatonError('demo_failed', `The demo folder ${root} cannot be made.`, { cause, nextStep });
  }
  const found = await readdir(root);
  if (found.length > 0) throw new BatonError('demo_failed', `The demo folder ${root} is not empty.`, { nextStep });
}

function issuesFile(): unknown[] {
  return demoTickets.map(({ identifier, title, description, priority, blockedBy, script }) => ({
    identifier,
    title,
    priority,
    blocked_by: blockedBy,
    description: `${description}\n\n\`\`\`rehearsal\n${script.join('\n')}\n\`\`\``,
  }));
}

async function writeTree(folder: string, files: Readonly<Record<string, string>>): Promise<void> {
  for (const [name, content] of Object.entries(files)) {
    const file = path.join(folder, name);
    await mkdir(path.dirname(file), { recursive: true });
    await writeFile(file, content);
  }
}

async function git(cwd: string, args: readonly string[], surroundings: Surroundings): Promise<void> {
  const env = childEnvironment({ from: surroundings.env, allow: usualVariables, deny: [] });
  const request = { command: 'git', args, cwd, env, runId: systemChance.id(), timeoutMs: 30_000 };
  const { code, stderr } = await runToEnd(request, { clock: systemClock, custody: 'group_only' });
  if (code !== 0) throw new BatonError('demo_failed', `git ${args.join(' ')} failed: ${stderr.trim()}`);
}
