import { spawnSync } from 'node:child_process';
import fs from 'node:fs';
import path from 'node:path';
import { parseSync } from 'vite';
import { copyProject, lendPackages, makeFolder, removeFolder } from './project-copy.ts';

/*
 * `npm run reworded [-- FILES…]` changes every sentence that Baton can say, in a copy of the project, and runs the tests
 * there. A test that fails asserts prose: it would fail at the next improvement of a sentence too, and has to assert a
 * code or data instead.
 */

/** What a person may reword at any time: string literals, templates and page text of at least three words. */
const prose = /[A-Za-z’'"`,:;.)}]+ [a-z’'"`(${]+ [a-z’'"`({$]+/;
/** Text of three words and more that a program reads. */
const forPrograms =
  /^\s*(select|insert|update|delete|create|alter|drop|pragma|begin|with|vacuum|query|mutation|fragment)\b|; do|\$\(|\bexec /i;
/** Words that neither SQL nor GraphQL has. */
const commonWords = /(?<![\w$.-])(the|are|was|were|it|its|of|to|that|no|be|what|this|has|an|a)(?![\w.-])/g;

const sourceFolders = ['src', 'dashboard'];
/** Texts that another specification fixes stand in files of this name; their tests quote them. */
const fixedTexts = /fixed-texts\.ts$/;

const copy = makeFolder();
try {
  copyProject(copy);
  // Some tests run as another user.
  fs.chmodSync(copy, 0o755);
  lendPackages(copy);
  let count = 0;
  for (const folder of sourceFolders) {
    for (const file of fs.globSync('**/*.{ts,tsx}', {
      cwd: path.join(copy, folder),
      exclude: (name) => fixedTexts.test(name),
    }))
      count += rewordFile(path.join(copy, folder, file));
  }
  console.log(`${count} sentences reworded`);
  const bootstrap = path.join(copy, 'scripts', 'bootstrap.mjs');
  spawnSync(process.execPath, [bootstrap, 'scripts/docs.ts'], { cwd: copy, stdio: 'inherit' });
  const args = [bootstrap, 'node_modules/vitest/vitest.mjs', 'run', ...process.argv.slice(2)];
  process.exitCode = spawnSync(process.execPath, args, { cwd: copy, stdio: 'inherit' }).status ?? 1;
} finally {
  removeFolder(copy);
}

function rewordFile(file: string): number {
  const text = fs.readFileSync(file, 'utf8');
  const changes: { readonly start: number; readonly end: number }[] = [];
  visit(parseSync(file, text).program, (node) => changes.push(node));
  let reworded = text;
  let count = 0;
  for (const { start, end } of changes.toSorted((one, other) => other.start - one.start)) {
    const before = text.slice(start, end);
    if (!prose.test(before) || forPrograms.test(before.slice(1))) continue;
    const after = before.replace(commonWords, (word) => `${word}q`);
    if (after === before) continue;
    reworded = reworded.slice(0, start) + after + reworded.slice(end);
    count += 1;
  }
  if (count > 0) fs.writeFileSync(file, reworded);
  return count;
}

interface SyntaxNode {
  readonly type: string;
  readonly start: number;
  readonly end: number;
}

/** Calls `found` for each piece of text that may be prose. */
function visit(node: unknown, found: (text: SyntaxNode) => void): void {
  if (Array.isArray(node)) {
    for (const each of node) visit(each, found);
    return;
  }
  if (!isNode(node)) return;
  if (node.type === 'Literal' || node.type === 'TemplateElement' || node.type === 'JSXText') {
    if (!('regex' in node)) found(node);
    return;
  }
  // A tagged template is SQL or GraphQL; the source of an import is a path.
  if (node.type === 'TaggedTemplateExpression' || node.type === 'ImportDeclaration') return;
  for (const child of Object.values(node)) visit(child, found);
}

function isNode(value: unknown): value is SyntaxNode {
  return typeof value === 'object' && value !== null && 'type' in value;
}
