import path from 'node:path';
import { BatonError } from '../../core/baton-error.ts';
import { loadWorkflow } from '../../workflow/load-workflow.ts';
import { canonicalPath } from '../../workspace/canonical-path.ts';
import { workflowContext } from '../adapters.ts';
import type { Surroundings } from '../surroundings.ts';
import { findClash, findSameFile } from './find-clash.ts';
import { groundOf, type ProjectGround } from './project-ground.ts';

/**
 * Throws when these workflow files cannot be worked on together. A file that cannot be read just now says nothing about
 * what it stands on; it is looked at again when it comes.
 */
export function refuseClashes(workflows: readonly string[], surroundings: Surroundings): void {
  const same = findSameFile(workflows.map((workflow) => ({ workflow, real: realFile(workflow) })));
  if (same !== null) throw same;
  const grounds = workflows.flatMap((workflow) => groundIfReadable(workflow, surroundings));
  for (const [index, ground] of grounds.entries()) {
    for (const other of grounds.slice(0, index)) {
      const clash = findClash(other, ground);
      if (clash !== null) throw clash;
    }
  }
}

function realFile(workflow: string): string {
  try {
    return canonicalPath(workflow);
  } catch {
    return path.normalize(workflow);
  }
}

function groundIfReadable(workflow: string, surroundings: Surroundings): ProjectGround[] {
  try {
    const { settings } = loadWorkflow(workflow, workflowContext(surroundings));
    return [groundOf(workflow, settings, surroundings)];
  } catch (thrown) {
    if (thrown instanceof BatonError) return [];
    throw thrown;
  }
}
