// Writes src/agent/codex/wire/protocol.ts: the types of the messages that Baton sends to Codex, taken from the types that the
// pinned binary generates. Of large messages only the fields that Baton uses are kept.
//
//   node scripts/codex-protocol.mjs PATH_OF_CODEX            writes the file
//   node scripts/codex-protocol.mjs PATH_OF_CODEX --print    prints it
import { execFileSync } from 'node:child_process';
import { existsSync, mkdtempSync, readFileSync, rmSync, writeFileSync } from 'node:fs';
import { tmpdir } from 'node:os';
import path from 'node:path';
import { fileURLToPath } from 'node:url';

const root = fileURLToPath(new URL('..', import.meta.url));
const target = path.join('src', 'agent', 'codex', 'wire', 'protocol.ts');

/** The messages that Baton sends, in the order of a session. The types that they name are included. */
const messages = [
  ...['InitializeParams', 'ThreadStartParams', 'ThreadResumeParams', 'ThreadSetNameParams', 'ThreadCompactStartParams'],
  ...['TurnStartParams', 'TurnSteerParams', 'TurnInterruptParams', 'ThreadBackgroundTerminalsCleanParams'],
  ...['CommandExecutionRequestApprovalResponse', 'FileChangeRequestApprovalResponse'],
  ...['PermissionsRequestApprovalResponse', 'ExecCommandApprovalResponse', 'ApplyPatchApprovalResponse'],
  ...['ToolRequestUserInputResponse', 'McpServerElicitationRequestResponse', 'DynamicToolCallResponse'],
  ...['CurrentTimeReadResponse', 'GetAccountParams', 'CommandExecParams'],
];

/** Fields that are kept of a type with many. */
const fields = {
  InitializeCapabilities: ['experimentalApi', 'requestAttestation'],
  ThreadStartParams: ['model', 'cwd', 'approvalPolicy', 'sandbox', 'config', 'dynamicTools'],
  ThreadResumeParams: ['threadId', 'model', 'cwd', 'approvalPolicy', 'sandbox', 'config', 'excludeTurns'],
  TurnStartParams: ['threadId', 'input', 'cwd', 'approvalPolicy', 'sandboxPolicy'],
  TurnSteerParams: ['threadId', 'expectedTurnId', 'input'],
  CommandExecParams: ['command', 'cwd', 'sandboxPolicy', 'timeoutMs'],
  DynamicToolFunctionSpec: ['name', 'description', 'inputSchema'],
  PermissionsRequestApprovalResponse: ['permissions', 'scope'],
  AdditionalFileSystemPermissions: ['read', 'write'],
};

/** The members that are kept of a union with many, each identified by a word that only it contains. */
const members = {
  UserInput: ['"text"'],
  DynamicToolSpec: ['"function"'],
  DynamicToolCallOutputContentItem: ['"inputText"'],
  CommandExecutionApprovalDecision: ['"accept"', '"acceptForSession"', '"decline"'],
  FileChangeApprovalDecision: ['"accept"', '"acceptForSession"', '"decline"'],
  ReviewDecision: ['"approved"', '"approved_for_session"', '"denied"'],
};

const [codex, flag] = process.argv.slice(2);
if (codex === undefined) {
  console.error('Usage: node scripts/codex-protocol.mjs PATH_OF_CODEX [--print]');
  process.exit(2);
}
const text = generate(codex);
if (flag === '--print') process.stdout.write(text);
else writeFileSync(path.join(root, target), text);

function generate(binary) {
  const version = execFileSync(binary, ['--version'], { encoding: 'utf8' }).trim().split(' ').at(-1);
  const folder = mkdtempSync(path.join(tmpdir(), 'codex-protocol-'));
  try {
    execFileSync(binary, ['app-server', 'generate-ts', '--experimental', '--out', folder], { stdio: 'ignore' });
    const header = [
      '/**',
      ` * What Baton sends to Codex and answers it, in the words of Codex ${version}. Generated, not written: by`,
      ' * `node scripts/codex-protocol.mjs PATH_OF_CODEX` from what `codex app-server generate-ts --experimental` prints,',
      ' * cut down to the messages and fields that Baton uses. A test makes it again and compares.',
      ' */',
      '',
    ];
    return formatted(header.join('\n') + closure(folder).join('\n'));
  } finally {
    rmSync(folder, { recursive: true, force: true });
  }
}

/** The declarations of all messages and of every type they name, each once; a type comes before the types it uses. */
function closure(folder) {
  const open = [...messages];
  const seen = new Set(open);
  const declarations = [];
  for (let name = open.shift(); name !== undefined; name = open.shift()) {
    const body = trimmed(name, bodyOf(folder, name));
    declarations.push(`export type ${name} = ${body};\n`);
    for (const [used] of body.replaceAll(/"[^"]*"/g, '').matchAll(/\b[A-Z]\w*/g)) {
      if (used === 'Array' || seen.has(used)) continue;
      seen.add(used);
      open.push(used);
    }
  }
  return declarations;
}

function bodyOf(folder, name) {
  const places = ['v2', '.', 'serde_json'].map((each) => path.join(folder, each, `${name}.ts`));
  const file = places.find((each) => existsSync(each));
  if (file === undefined) throw new Error(`Codex generates no type ${name}.`);
  const source = readFileSync(file, 'utf8').replaceAll(/\/\*[\s\S]*?\*\//g, '');
  const declared = source.match(/export type \w+ = ([\s\S]*);\s*$/);
  if (declared === null) throw new Error(`${file} is not one declaration.`);
  return declared[1].trim().replaceAll(/\n\s*\n/g, '\n');
}

function trimmed(name, body) {
  if (members[name] !== undefined) {
    const kept = split(body, '|').filter((member) => members[name].some((word) => member.includes(word)));
    if (kept.length !== members[name].length) throw new Error(`The members of ${name} have changed: ${body}`);
    return kept.join(' | ');
  }
  if (fields[name] === undefined) return body;
  const all = split(body.slice(1, body.lastIndexOf('}')), ',');
  const kept = fields[name].map((field) => {
    const found = all.find((each) => each.startsWith(`${field}:`) || each.startsWith(`${field}?:`));
    if (found === undefined) throw new Error(`${name} no longer has the field ${field}.`);
    return found;
  });
  return `{\n${kept.join(',\n')} }`;
}

/** Splits at a separator outside of all brackets and strings. */
function split(text, separator) {
  const parts = [''];
  let depth = 0;
  for (const [token] of text.matchAll(/"[^"]*"|[\s\S]/g)) {
    if ('{[(<'.includes(token)) depth += 1;
    else if ('}])>'.includes(token)) depth -= 1;
    if (depth === 0 && token === separator) parts.push('');
    else parts[parts.length - 1] += token;
  }
  return parts.map((part) => part.trim()).filter((part) => part !== '');
}

function formatted(source) {
  const biome = path.join(root, 'node_modules', '@biomejs', 'biome', 'bin', 'biome');
  const args = [biome, 'format', `--stdin-file-path=${target}`];
  return execFileSync(process.execPath, args, { cwd: root, input: source, encoding: 'utf8' });
}
