import { mkdtemp, rm, writeFile } from 'node:fs/promises';
import path from 'node:path';
import type { ProposedSetup } from '../../client/schema/task.ts';
import { workflowContext } from '../../daemon/adapters.ts';
import type { Surroundings } from '../../daemon/surroundings.ts';
import type { WorkplaceFlags } from '../../daemon/workplace.ts';
import { withAddition } from '../../workflow/edit-workflow.ts';
import { parseWorkflow } from '../../workflow/load-workflow.ts';
import { decodeText, readWorkflowBytes } from '../../workflow/read-workflow-bytes.ts';
import { boundedGit } from '../doctor/bounded-git.ts';

/** The workflow file with a proposal in it. */
export interface PlannedEdit {
  /** Absolute. */
  readonly path: string;
  readonly after: string;
  /** In the form of `git diff`; empty: the file has it already. */
  readonly diff: string;
  /** The file is not the one that the proposal was made for. */
  readonly isChanged: boolean;
  /** The file with the proposal in it, by its content. */
  readonly revision: string;
}

/** What accepting a proposal would change. It writes nothing. */
export async function planEdit(
  { setup, checks, notes, revision }: ProposedSetup,
  flags: WorkplaceFlags,
  surroundings: Surroundings,
): Promise<PlannedEdit> {
  const file = path.resolve(surroundings.cwd, flags.workflow ?? 'WORKFLOW.md');
  const bytes = readWorkflowBytes(file);
  const before = decodeText(bytes, file);
  const commands = checks.map(({ name, run }) => ({ name, run }));
  const after = withAddition(before, { setup: setup?.run ?? null, checks: commands, notes });
  const diff = after === before ? '' : await diffOf(before, after, path.basename(file), surroundings);
  const context = workflowContext(surroundings, flags.stateDir);
  const isChanged = after !== before && parseWorkflow(bytes, file, context).revision !== revision;
  // A file that Baton could not use is not proposed either.
  const made = parseWorkflow(Buffer.from(after), file, context);
  return { path: file, after, diff, isChanged, revision: made.revision };
}

async function diffOf(before: string, after: string, name: string, surroundings: Surroundings): Promise<string> {
  const folder = await mkdtemp(path.join(surroundings.tmpDir, 'baton-setup-'));
  try {
    const [old, made] = [path.join(folder, 'before'), path.join(folder, 'after')];
    await writeFile(old, before);
    await writeFile(made, after);
    const { stdout } = await boundedGit(surroundings).ask({
      args: ['diff', '--no-index', '--no-color', '--no-ext-diff', '--no-textconv', '--', old, made],
      gitDir: null,
    });
    const hunks = stdout.slice(Math.max(0, stdout.indexOf('@@')));
    return `--- ${name}\n+++ ${name}\n${hunks}`;
  } finally {
    await rm(folder, { recursive: true, force: true });
  }
}
