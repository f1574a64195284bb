import { execFileSync } from 'node:child_process';
import fs from 'node:fs';
import os from 'node:os';
import path from 'node:path';

export const projectRoot = path.resolve(import.meta.dirname, '../..');

export function makeFolder(): string {
  return fs.realpathSync(fs.mkdtempSync(path.join(os.tmpdir(), 'baton-toolchain-')));
}

export function removeFolder(folder: string): void {
  fs.rmSync(folder, { recursive: true, force: true });
}

/** The project as a fresh clone has it, with what is not committed yet. */
export function copyProject(target: string): void {
  const list = ['ls-files', '-z', '--cached', '--others', '--exclude-standard'];
  const files = execFileSync('git', list, { cwd: projectRoot, encoding: 'utf8' }).split('\0');
  for (const file of files) {
    // A file that is removed but not yet committed is still listed.
    if (file !== '' && fs.existsSync(path.join(projectRoot, file))) copyFile(file, target);
  }
}

/** Only these files or folders of the project. */
export function copyParts(target: string, parts: readonly string[]): void {
  for (const part of parts) copyFile(part, target);
}

function copyFile(file: string, target: string): void {
  fs.cpSync(path.join(projectRoot, file), path.join(target, file), { recursive: true });
}

/**
 * Links the installed packages into a copy, with the stamp that they are ready. The folder belongs to the copy and only its
 * entries are links, so that an `npm ci` in the copy would remove links and nothing else.
 */
export function lendPackages(target: string): void {
  const [from, to] = [projectRoot, target].map((folder) => path.join(folder, 'node_modules')) as [string, string];
  fs.mkdirSync(to);
  for (const name of fs.readdirSync(from)) {
    if (name === '.baton-lockfile') fs.copyFileSync(path.join(from, name), path.join(to, name));
    else if (!name.startsWith('.')) fs.symlinkSync(path.join(from, name), path.join(to, name));
  }
}

export function writeFiles(target: string, files: Readonly<Record<string, string>>): void {
  for (const [name, text] of Object.entries(files)) {
    fs.mkdirSync(path.dirname(path.join(target, name)), { recursive: true });
    fs.writeFileSync(path.join(target, name), text);
  }
}
