import { mkdir, mkdtemp, writeFile } from 'node:fs/promises';
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

/** Makes the scratch folder of a demo: a git repository with real files, the workflow file, the tickets. */
export async function makeDemo(folder: string | undefined, surroundings: Surroundings): Promise<DemoFolder> {
  const root =
    folder === undefined
      ? await mkdtemp(path.join(surroundings.tmpDir, 'baton-demo-'))
      : path.resolve(surroundings.cwd, folder);
  const project = path.join(root, 'project');
  const workflow = path.join(root, 'WORKFLOW.md');
  try {
    await mkdir(root, { recursive: true });
    await mkdir(project);
  } catch (cause) {
    throw new BatonError('demo_failed', `The demo folder ${root} cannot be made, or holds a demo already.`, {
      cause,
      nextStep: 'Choose another folder with --dir, or leave --dir out.',
    });
  }
  await writeTree(project, demoProject);
  await git(project, ['init', '--quiet', '--initial-branch=main'], surroundings);
  await git(project, ['add', '--all'], surroundings);
  await git(
    project,
    ['-c', 'user.name=Baton demo', '-c', 'user.email=demo@example.invalid', 'commit', '--quiet', '--message=Begin'],
    surroundings,
  );
  await writeFile(workflow, demoWorkflow);
  await writeFile(path.join(root, 'issues.json'), JSON.stringify(issuesFile(), null, 2));
  return { root, workflow, project };
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
