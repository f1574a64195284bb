import { createHash } from 'node:crypto';
import { existsSync } from 'node:fs';
import { mkdir, readdir, readFile, rename, writeFile } from 'node:fs/promises';
import path from 'node:path';
import { BatonError } from '../src/core/baton-error.ts';
import { daemonStatus } from '../src/daemon/ask-daemon.ts';
import type { Surroundings } from '../src/daemon/surroundings.ts';
import { demoIssues } from './demo-issues.ts';
import { demoProject } from './demo-project.ts';
import { demoWorkflow } from './demo-workflow.ts';
import { demoAuthor, demoPerson, git } from './git.ts';

export interface DemoFolder {
  readonly root: string;
  readonly workflow: string;
  readonly project: string;
  readonly stateDir: string;
}

/** Written last: a folder that has it holds a whole demo, and its text identifies the files. */
const markerFile = '.baton-demo';
const markerText = [
  'A folder of `baton demo`. You may remove it when no demo is running.',
  `Made of ${createHash('sha256')
    .update(JSON.stringify([demoWorkflow, demoProject, demoIssues]))
    .digest('hex')}`,
  '',
].join('\n');

export interface OpenedDemo {
  readonly folder: DemoFolder;
  /** Where the demo of before was moved to. */
  readonly keptOther: string | null;
}

/**
 * The folder of the demo: the existing one, to continue it, or a new one with a git repository of real files. A folder
 * of another version of Baton has other issues and settings, so it is moved aside, and so is any with `--fresh`.
 */
export async function openDemoFolder(
  { dir, fresh }: { readonly dir?: string; readonly fresh?: boolean },
  surroundings: Surroundings,
): Promise<OpenedDemo> {
  const folder = demoFolder(dir, surroundings);
  const found = await readFile(path.join(folder.root, markerFile), 'utf8').catch(() => null);
  if (found !== null) await refuseRunning(folder, surroundings);
  if (found === markerText && fresh !== true) return { folder, keptOther: null };
  const keptOther = found === null ? null : await putAside(folder);
  await makeDemo(folder, surroundings);
  return { folder, keptOther };
}

/** Two demos cannot share a folder. The other one is there to look at. */
async function refuseRunning(folder: DemoFolder, surroundings: Surroundings): Promise<void> {
  const status = await daemonStatus(folder, surroundings);
  if (status === null) return;
  const { api: dashboard } = status;
  const where = dashboard === null ? '' : ` Its dashboard is at ${dashboard}`;
  throw new BatonError('demo_failed', `A demo is already running in ${folder.root}.${where}`, {
    details: { problem: 'other_demo_running', folder: folder.root, dashboard },
    nextStep: 'Open its dashboard, stop it with Ctrl-C in its terminal, or choose another folder with --dir.',
  });
}

async function makeDemo({ root, project, workflow }: DemoFolder, surroundings: Surroundings): Promise<void> {
  await makeEmptyFolder(root);
  await mkdir(project);
  await writeTree(project, demoProject);
  await git(project, ['init', '--quiet', '--initial-branch=main'], surroundings);
  await git(project, ['add', '--all'], surroundings);
  await git(project, [...demoAuthor, 'commit', '--quiet', '--message=Begin'], surroundings);
  // Baton merges into a base that is checked out nowhere; the merges are by the person of the demo.
  await git(project, ['checkout', '--quiet', '--detach'], surroundings);
  for (const [name, value] of Object.entries(demoPerson)) await git(project, ['config', name, value], surroundings);
  await writeFile(workflow, demoWorkflow);
  await writeFile(path.join(root, markerFile), markerText);
}

/** Moves a finished demo aside, so that the next one starts again; returns its new name. Nothing is removed. */
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

/** The folder may hold the user's own files: nothing is overwritten. */
async function makeEmptyFolder(root: string): Promise<void> {
  const nextStep = `Choose another folder with --dir, or remove ${root} if it is left over from a demo.`;
  try {
    await mkdir(root, { recursive: true });
  } catch (cause) {
    const details = { problem: 'folder_not_made', folder: root };
    throw new BatonError('demo_failed', `The demo folder ${root} cannot be created.`, { cause, details, nextStep });
  }
  const found = await readdir(root);
  if (found.length > 0) {
    const details = { problem: 'folder_not_empty', folder: root };
    throw new BatonError('demo_failed', `The folder ${root} is not empty and is not a complete demo folder.`, {
      details,
      nextStep,
    });
  }
}

async function writeTree(folder: string, files: Readonly<Record<string, string>>): Promise<void> {
  for (const [name, content] of Object.entries(files)) {
    const file = path.join(folder, name);
    await mkdir(path.dirname(file), { recursive: true });
    await writeFile(file, content);
  }
}
