import { realpathSync } from 'node:fs';
import path from 'node:path';
import { toBatonError } from '../core/baton-error.ts';
import type { Settings } from '../core/settings.ts';
import { decodeText, readWorkflowBytes } from './read-workflow-bytes.ts';
import { errorAt, type Report, shown } from './workflow-problems.ts';

const key = 'second_prompt.file';

/** Reads a file; a caller that follows its changes notes which. Throws a BatonError. */
export type ReadFile = (file: string) => Buffer;

export const readPromptFile: ReadFile = (file) => readWorkflowBytes(file);

/** The path of the second prompt, absolute; null when there is none. */
export function secondPromptPath(
  { secondPrompt: { file } }: Pick<Settings, 'secondPrompt'>,
  workflowPath: string,
): string | null {
  return file === null ? null : path.resolve(path.dirname(workflowPath), file);
}

/**
 * The text of the second prompt, without surrounding blank lines; null when there is none, or it cannot be used. The file is
 * below the folder of the workflow file, also behind links: a merged change must not send another file to agents.
 */
export function readSecondPrompt(
  settings: Pick<Settings, 'secondPrompt'>,
  workflowPath: string,
  read: ReadFile,
  report: Report,
): string | null {
  const { file } = settings.secondPrompt;
  const place = secondPromptPath(settings, workflowPath);
  if (file === null || place === null) return null;
  const folder = path.dirname(workflowPath);
  if (path.isAbsolute(file) || !isBelow(folder, place))
    return refuse(
      report,
      'path_outside',
      `${key} must be a path below the folder of the workflow file, found ${shown(file)}`,
    );
  try {
    const bytes = read(place);
    if (!isBelow(realpathSync(folder), realpathSync(place)))
      return refuse(
        report,
        'path_outside',
        `${key}: ${shown(file)} is a link that leads out of the folder of the workflow file`,
      );
    const text = decodeText(bytes, place).trim();
    return text === '' ? refuse(report, 'blank', `${key}: ${shown(file)} is empty`) : text;
  } catch (thrown) {
    const { details, message } = toBatonError(thrown);
    const problem = typeof details.problem === 'string' ? details.problem : 'not_readable';
    return refuse(report, problem, `${key}: Baton cannot use ${shown(file)}: ${message}`);
  }
}

function refuse(report: Report, problem: string, message: string): null {
  report(errorAt(key, message, { problem }));
  return null;
}

function isBelow(folder: string, file: string): boolean {
  const way = path.relative(folder, file);
  return way !== '' && way !== '..' && !way.startsWith(`..${path.sep}`) && !path.isAbsolute(way);
}
