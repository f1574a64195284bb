import path from 'node:path';
import type { Settings } from '../../core/settings.ts';
import { findProgram } from '../../process/find-program.ts';
import { inspectWorkflow } from '../../workflow/inspect-workflow.ts';
import { notInThisVersion, workflowContext } from '../adapters.ts';
import { stateFolder } from '../state-folder.ts';
import type { Surroundings } from '../surroundings.ts';
import { checkFolder } from './check-folder.ts';
import { type Finding, ill, well } from './finding.ts';

/** What one workflow file needs: a usable file, its folders, its agent's program. */
export async function checkWorkflow(workflow: string, surroundings: Surroundings): Promise<Finding[]> {
  const file = path.resolve(surroundings.cwd, workflow);
  const { workflow: loaded, problems } = inspectWorkflow(file, workflowContext(surroundings));
  const errors = problems.filter(({ severity }) => severity === 'error');
  const mend = `baton validate '${file}'`;
  if (loaded === null || errors.length > 0)
    return [ill('workflow file', `${file}: ${errors.map(({ code }) => code).join(', ')}`, mend)];
  const missing = notInThisVersion(loaded.settings);
  return [
    missing.length === 0
      ? well('workflow file', file)
      : ill('workflow file', missing.map(({ message }) => message).join('; '), mend),
    await checkFolder('workspace root', loaded.settings.workspace.root),
    await checkFolder('state folder', stateFolder(file, undefined, surroundings)),
    await checkAgent(loaded.settings, surroundings),
  ];
}

/** A command is shell text; its first word that is no assignment is the program, and most often the one that is missing. */
async function checkAgent(settings: Settings, surroundings: Surroundings): Promise<Finding> {
  const { backend, command } = settings.agent;
  if (backend === 'rehearsal') return well('agent program', 'rehearsal: comes with Baton');
  const text = (backend === 'codex' ? settings.codex.command : command) ?? '';
  const program =
    text
      .trim()
      .split(/\s+/)
      .find((word) => !/^[A-Za-z_]\w*=/.test(word)) ?? '';
  const where = { cwd: surroundings.cwd, path: surroundings.env.PATH };
  const found = await findProgram(program, where);
  return found === null
    ? ill(
        'agent program',
        `${backend}: "${program}" is not on the PATH`,
        `install ${program}, or mend the command in the workflow file`,
      )
    : well('agent program', `${backend}: ${found}`);
}
