import { existsSync } from 'node:fs';
import { mkdir, readdir, rename, writeFile } from 'node:fs/promises';
import path from 'node:path';
import { BatonError } from '../../core/baton-error.ts';
import type { Surroundings } from '../surroundings.ts';
import { demoProject } from './demo-project.ts';
import { demoWorkflow } from './demo-workflow.ts';
import { demoAuthor, git } from './git.ts';

export interface DemoFolder {
  readonly root: string;
  readonly workflow: string;
  readonly project: string;
  readonly stateDir: string;
}

/** Written last: a folder that has it holds a whole demo. */
const mark = '.baton-demo';

/** The folder of the demo: the one that is there, to go on with it, or a new one with a git repository of real files. */
export async function openDemoFolder(wanted: string | undefined, surroundings: Surroundings): Promise<DemoFolder> {
  const folder = demoFolder(wanted, surroundings);
  if (existsSync(path.join(folder.root, mark))) return folder;
  const { root, project, workflow } = folder;
  await makeEmptyFolder(root);
  await mkdir(project);
  await writeTree(project, demoProject);
  await git(project, ['init', '--quiet', '--initial-branch=main'], surroundings);
  await git(project, ['add', '--all'], surroundings);
  await git(project, [...demoAuthor, 'commit', '--quiet', '--message=Begin'], surroundings);
  await writeFile(workflow, demoWorkflow);
  await writeFile(path.join(root, mark), 'A folder of `baton demo`. It may be removed when no demo runs.\n');
  return folder;
}

/** Puts a demo that is over aside, so that the next one begins anew; gives its new name. Nothing is removed. */
export async function putAside({ root }: DemoFolder): Promise<string> {
  for (let number = 1; ; number += 1) {
    const name = `${root}-finished-${number}`;
    if (existsSync(name)) continue;
    await rename(root, name);
    return name;
  }
}

function demoFolder(wanted: string | undefined, { cwd, env, homeDir }: Surroundings): DemoFolder {
  const stateHome = env.XDG_STATE_HOME || path.join(homeDir, '.local', 'state');
  const root = wanted === undefined ? path.join(stateHome, 'baton', 'demo') : path.resolve(cwd, wanted);
  return {
    root,
    workflow: path.join(root, 'WORKFLOW.md'),
    project: path.join(root, 'project'),
    stateDir: path.join(root, 'state'),
  };
}

/** The folder may hold something of somebody: nothing is written over (law 8). */
async function makeEmptyFolder(root: string): Promise<void> {
  const nextStep = `Choose another folder with --dir, or remove ${root} if it is the rest of a demo.`;
  try {
    await mkdir(root, { recursive: true });
  } catch (cause) {
    throw new BatonError('demo_failed', `The demo folder ${root} cannot be made.`, { cause, nextStep });
  }
  const found = await readdir(root);
  if (found.length > 0) {
    throw new BatonError('demo_failed', `The folder ${root} is not empty and holds no whole demo.`, { nextStep });
  }
}

async function writeTree(folder: string, files: Readonly<Record<string, string>>): Promise<void> {
  for (const [name, content] of Object.entries(files)) {
    const file = path.join(folder, name);
    await mkdir(path.dirname(file), { recursive: true });
    await writeFile(file, content);
  }
}
