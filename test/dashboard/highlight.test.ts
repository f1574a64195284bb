import fc from 'fast-check';
import { describe, expect, it } from 'vitest';
import { canColour, colourHunk } from '../../dashboard/data/diff/colour-hunks.ts';
import { type DiffHunk, diffHunks } from '../../dashboard/data/diff/diff-lines.ts';
import { highlightLines } from '../../dashboard/data/diff/highlight.ts';
import { type Language, languageOf } from '../../dashboard/data/diff/language-of.ts';
import { harmlessText } from '../../src/core/text/harmless-line.ts';

const names = ['a.ts', 'a.py', 'a.md', 'a.html', 'a.yml', 'a.css', 'a.sh', 'a.go', 'a.json', 'a.sql', 'Dockerfile'];
const languages = names.map((name) => languageOf(name) as Language);
const joined = (pieces: readonly { readonly text: string }[]): string => pieces.map(({ text }) => text).join('');
const hunkOf = (lines: readonly string[]): DiffHunk => ({
  place: '',
  lines: lines.map((text, index) => ({ kind: 'added', before: null, after: index + 1, text })),
});

describe('the colours of a diff', () => {
  it('know a language by the name of the file', () => {
    expect(['src/a.TSX', 'Makefile', 'x/.editorconfig', 'index.d.mts'].map(languageOf)).toEqual([
      'typescript',
      'makefile',
      'ini',
      'typescript',
    ]);
    expect(['LICENSE', 'a.constructor', 'a.__proto__', 'ts/notes.txt', ''].map(languageOf)).toEqual(
      Array(5).fill(null),
    );
  });

  it.each([
    ['a.sh', 'if [ -f "$a" ]; then exit; fi'],
    ['a.c', 'int main(void) { return 1; }'],
    ['a.cpp', 'class A { public: int b; };'],
    ['a.cs', 'public class A { }'],
    ['a.css', '.b { color: red; }'],
    ['a.dart', 'final String s = "x";'],
    ['a.patch', '+ added'],
    ['Dockerfile', 'FROM node:24'],
    ['a.ex', 'def b, do: "x"'],
    ['a.go', 'func main() { return }'],
    ['a.graphql', 'type A { b: String! }'],
    ['a.toml', '[a]'],
    ['a.java', 'public class A { }'],
    ['a.js', 'const a = 1;'],
    ['a.json', '{"a": true}'],
    ['a.kt', 'fun main() { val s = "x" }'],
    ['a.lua', 'local a = "x"'],
    ['Makefile', 'all: a'],
    ['a.md', '# A'],
    ['a.php', '<?php return "x";'],
    ['a.proto', 'message A { string b = 1; }'],
    ['a.py', 'def f(): return 1'],
    ['a.rb', 'def a; end'],
    ['a.rs', 'fn main() { }'],
    ['a.scala', 'object A { val s = "x" }'],
    ['a.scss', 'a { color: red; }'],
    ['a.sql', 'SELECT a FROM b'],
    ['a.swift', 'func a() { return }'],
    ['a.ts', 'interface B { c: number }'],
    ['a.xml', '<a b="c">d</a>'],
    ['a.yml', 'a: "b"'],
  ])('are there for %s', (name, code) => {
    const pieces = highlightLines(languageOf(name) as Language, [code]).flat();
    expect(pieces.some(({ kind }) => kind !== null)).toBe(true);
  });

  it('tell words of the language, texts and comments apart, over several lines', () => {
    const [first, second, third] = highlightLines('typescript', ['const a = "b"; /* one', 'two */ return 3', '']);
    expect(first?.filter(({ kind }) => kind !== null)).toEqual([
      { kind: 'keyword', text: 'const' },
      { kind: 'string', text: '"b"' },
      { kind: 'comment', text: '/* one' },
    ]);
    expect(second?.filter(({ kind }) => kind !== null)).toEqual([
      { kind: 'comment', text: 'two */' },
      { kind: 'keyword', text: 'return' },
      { kind: 'value', text: '3' },
    ]);
    expect(third).toEqual([]);
  });

  it('read the old and the new code apart: a comment that the change removes does not spread', () => {
    const [hunk] = diffHunks('@@ -1,3 +1,2 @@\n-/* old\n- end */\n const a = 1;\n+const b = 2;\n');
    const coloured = colourHunk(hunk as DiffHunk, 'javascript', highlightLines);
    expect(coloured.map((pieces) => pieces[0]?.kind)).toEqual(['comment', 'comment', 'keyword', 'keyword']);
  });

  // @conforms dashboard.46
  it('change no character of any text in any language, and make no markup of it', () => {
    const hostile = fc.constantFrom(
      '<script>hit()</script>',
      '<img src=x onerror=hit()>',
      '&lt;b&gt;',
      '\u202Egnp\u2066',
      '\u001B]0;x\u0007',
      '`${`',
      "'''",
      '/*',
      '{{',
      '😀\uD83D',
      '<style>a{}',
      '<?php "',
      '```ts',
    );
    const line = fc.array(fc.oneof(hostile, fc.string()), { maxLength: 6 }).map((parts) => parts.join(''));
    fc.assert(
      fc.property(fc.array(line, { minLength: 1, maxLength: 8 }), fc.constantFrom(...languages), (raw, language) => {
        const lines = raw.map((text) => text.replaceAll('\n', ' '));
        const coloured = colourHunk(hunkOf(lines), language, highlightLines);
        expect(coloured.map(joined)).toEqual(lines.map(harmlessText));
      }),
    );
  });

  it('are left out for a large file and for one with a very long line', () => {
    expect(canColour([hunkOf(['a'.repeat(2_000)])])).toBe(true);
    expect(canColour([hunkOf(['a'.repeat(2_001)])])).toBe(false);
    expect(canColour([hunkOf(Array(201).fill('a'.repeat(1_000)))])).toBe(false);
  });
});
