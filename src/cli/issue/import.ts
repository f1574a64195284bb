import { readFile, stat } from 'node:fs/promises';
import path from 'node:path';
import { BatonError } from '../../core/baton-error.ts';
import { harmlessLine } from '../../core/text/harmless-line.ts';
import { boardErrors } from '../../tracker/board/board-errors.ts';
import { type ImportFormat, largestImportBytes } from '../../tracker/board/import/read-import.ts';
import { exitCodes } from '../exit-codes.ts';
import { answer, type BoardContext } from './board-context.ts';
import { readStdin } from './read-stdin.ts';

interface ImportFlags {
  readonly format?: ImportFormat;
  readonly reason?: string;
}

const formatOfExtension: Readonly<Record<string, ImportFormat>> = {
  '.jsonl': 'jsonl',
  '.ndjson': 'jsonl',
  '.json': 'jsonl',
  '.md': 'markdown',
  '.markdown': 'markdown',
};

/** `baton issue import FILE`: imports all issues of the file, or none and reports everything that is wrong. */
export async function importFile(file: string, flags: ImportFlags, context: BoardContext): Promise<number> {
  const { project, surroundings } = context;
  const format = flags.format ?? formatOfExtension[path.extname(file).toLowerCase()];
  if (format === undefined) {
    throw new BatonError('usage_error', `The format of ${file} is not clear from its name.`, {
      nextStep: 'Add --format jsonl or --format markdown.',
    });
  }
  const bytes = file === '-' ? await readStdin(surroundings, largestImportBytes) : await readSmall(file, context);
  const { reason } = flags;
  const content = bytes.toString('base64');
  const { created, known } = await project.importIssues({
    format,
    content,
    ...(reason === undefined ? {} : { reason }),
  });
  const lines = created.map(({ identifier, status, title }) => `${identifier} (${status}) ${harmlessLine(title)}`);
  const summary = `${created.length} new, ${known.length} there already.`;
  answer(context, { created, known }, [...lines, summary].join('\n'));
  return exitCodes.ok;
}

async function readSmall(file: string, { surroundings }: BoardContext): Promise<Buffer> {
  const place = path.resolve(surroundings.cwd, file);
  try {
    const { size } = await stat(place);
    // One byte too many is enough for the refusal, however large the file is.
    if (size > largestImportBytes) return Buffer.alloc(largestImportBytes + 1);
    return await readFile(place);
  } catch (cause) {
    throw new BatonError(boardErrors.board_import_invalid, `The file ${place} cannot be read.`, {
      cause,
      nextStep: 'Check the path and that you may read it.',
    });
  }
}
