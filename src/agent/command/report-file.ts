import { constants } from 'node:fs';
import { mkdtemp, open, realpath, rm } from 'node:fs/promises';
import path from 'node:path';
import { parseJson } from '../../core/text/parse-json.ts';

/** Lines that a program adds between two reads beyond this are skipped, the oldest first. */
const mostBytes = 256 * 1_024;
const longestLine = 16 * 1_024;

/** Neither follows a link nor waits at a pipe, if one has replaced the file. */
const flags = constants.O_RDONLY | constants.O_NOFOLLOW | constants.O_NONBLOCK;

/**
 * The file in which a program reports to Baton, one JSON object in each line. It is in a folder of its own, which is
 * removed with the session. What must hold: whatever the program makes of the file, a read ends soon, holds at most
 * `mostBytes`, never rejects and returns only whole lines that were not returned before.
 */
export class ReportFile {
  readonly folder: string;
  readonly path: string;
  /** Up to here the lines were returned. */
  #offset = 0;

  private constructor(folder: string) {
    this.folder = folder;
    this.path = path.join(folder, 'report.jsonl');
  }

  static async create(temporaryFolder: string): Promise<ReportFile> {
    return new ReportFile(await realpath(await mkdtemp(path.join(temporaryFolder, 'baton-report-'))));
  }

  /** The objects that were added. Null stands for a line that has none. */
  async read(): Promise<readonly (Readonly<Record<string, unknown>> | null)[]> {
    const text = await this.#added().catch(() => '');
    return text
      .split('\n')
      .slice(0, -1)
      .filter((line) => line.trim() !== '')
      .map(objectIn);
  }

  async remove(): Promise<void> {
    // A folder in which the program made the removal impossible stays: the session ends all the same.
    await rm(this.folder, { recursive: true, force: true }).catch(() => {});
  }

  /** The new whole lines, each with its end. */
  async #added(): Promise<string> {
    const file = await open(this.path, flags);
    try {
      const found = await file.stat();
      if (!found.isFile()) return '';
      // A program may begin the file again.
      if (found.size < this.#offset) this.#offset = 0;
      const isSkipping = found.size - this.#offset > mostBytes;
      if (isSkipping) this.#offset = found.size - mostBytes;
      const { buffer, bytesRead } = await file.read(Buffer.alloc(mostBytes), 0, mostBytes, this.#offset);
      const bytes = buffer.subarray(0, bytesRead);
      const start = isSkipping ? bytes.indexOf('\n') + 1 : 0;
      const end = bytes.lastIndexOf('\n') + 1;
      this.#offset += end;
      return bytes.toString('utf8', start, end);
    } finally {
      await file.close();
    }
  }
}

function objectIn(line: string): Readonly<Record<string, unknown>> | null {
  if (line.length > longestLine) return null;
  try {
    const value = parseJson(line);
    return typeof value === 'object' && value !== null && !Array.isArray(value) ? { ...value } : null;
  } catch {
    return null;
  }
}
