import type { Emitter, LanguageFn } from 'highlight.js';
import hljs from 'highlight.js/lib/core';
import bash from 'highlight.js/lib/languages/bash';
import c from 'highlight.js/lib/languages/c';
import cpp from 'highlight.js/lib/languages/cpp';
import csharp from 'highlight.js/lib/languages/csharp';
import css from 'highlight.js/lib/languages/css';
import dart from 'highlight.js/lib/languages/dart';
import diff from 'highlight.js/lib/languages/diff';
import dockerfile from 'highlight.js/lib/languages/dockerfile';
import elixir from 'highlight.js/lib/languages/elixir';
import go from 'highlight.js/lib/languages/go';
import graphql from 'highlight.js/lib/languages/graphql';
import ini from 'highlight.js/lib/languages/ini';
import java from 'highlight.js/lib/languages/java';
import javascript from 'highlight.js/lib/languages/javascript';
import json from 'highlight.js/lib/languages/json';
import kotlin from 'highlight.js/lib/languages/kotlin';
import lua from 'highlight.js/lib/languages/lua';
import makefile from 'highlight.js/lib/languages/makefile';
import markdown from 'highlight.js/lib/languages/markdown';
import php from 'highlight.js/lib/languages/php';
import protobuf from 'highlight.js/lib/languages/protobuf';
import python from 'highlight.js/lib/languages/python';
import ruby from 'highlight.js/lib/languages/ruby';
import rust from 'highlight.js/lib/languages/rust';
import scala from 'highlight.js/lib/languages/scala';
import sql from 'highlight.js/lib/languages/sql';
import swift from 'highlight.js/lib/languages/swift';
import typescript from 'highlight.js/lib/languages/typescript';
import xml from 'highlight.js/lib/languages/xml';
import yaml from 'highlight.js/lib/languages/yaml';
import type { Language } from './language-of.ts';

/** A part of a line in one colour; null: in the colour of the text. */
export interface Piece {
  readonly kind: PieceKind | null;
  readonly text: string;
}

/** The colours: `style/diff.css` has one for each. */
type PieceKind = 'keyword' | 'string' | 'comment' | 'value' | 'name' | 'type';

const grammars: Readonly<Record<Language, LanguageFn>> = {
  ...{ bash, c, cpp, csharp, css, dart, diff, dockerfile, elixir, go, graphql, ini, java, javascript, json, kotlin },
  ...{ lua, makefile, markdown, php, protobuf, python, ruby, rust, scala, sql, swift, typescript, xml, yaml },
};

/** The names of highlight.js for parts of code, up to their first dot. */
const kinds: Readonly<Record<string, PieceKind | null>> = {
  ...{ keyword: 'keyword', operator: null, punctuation: null, subst: null },
  ...{ string: 'string', regexp: 'string', char: 'string', link: 'string', code: 'string', addition: 'string' },
  ...{ comment: 'comment', quote: 'comment', doctag: 'comment', deletion: 'comment' },
  ...{ number: 'value', literal: 'value', symbol: 'value', bullet: 'value', variable: 'value' },
  ...{ title: 'name', section: 'name', name: 'name', 'selector-class': 'name', 'selector-id': 'name' },
  ...{ type: 'type', built_in: 'type', attr: 'type', attribute: 'type', property: 'type', meta: 'type' },
  ...{ 'selector-tag': 'keyword', 'selector-attr': 'type', 'selector-pseudo': 'type', tag: null },
};

/** Collects the parts as data. highlight.js would write HTML, and text of a repository must not become any. */
class Pieces implements Emitter {
  readonly all: Piece[] = [];
  readonly #scopes: (PieceKind | null)[] = [];

  startScope(name: string): void {
    const kind = kinds[name.split('.')[0] ?? ''];
    this.#scopes.push(kind === undefined ? (this.#scopes.at(-1) ?? null) : kind);
  }

  endScope(): void {
    this.#scopes.pop();
  }

  /** An older name, which the engine also uses. */
  openNode(name: string): void {
    this.startScope(name);
  }

  closeNode(): void {
    this.endScope();
  }

  addText(text: string): void {
    this.all.push({ kind: this.#scopes.at(-1) ?? null, text });
  }

  __addSublanguage(emitter: Emitter): void {
    if (emitter instanceof Pieces) this.all.push(...emitter.all);
  }

  finalize(): void {}

  toHTML(): string {
    return '';
  }
}

const engine = hljs.newInstance();
engine.configure({ __emitter: Pieces });
for (const [name, grammar] of Object.entries(grammars)) engine.registerLanguage(name, grammar);

/**
 * The parts of each line. The lines are one piece of code, so that a comment over several of them is seen as one. The
 * joined parts of a line are exactly the line; if a grammar breaks that, the lines have no colours.
 */
export function highlightLines(language: Language, lines: readonly string[]): readonly (readonly Piece[])[] {
  const code = lines.join('\n');
  const { _emitter: emitter } = engine.highlight(code, { language, ignoreIllegals: true });
  const pieces = emitter instanceof Pieces ? emitter.all : [];
  if (pieces.map(({ text }) => text).join('') !== code) return lines.map((text) => [{ kind: null, text }]);
  return byLine(pieces);
}

function byLine(pieces: readonly Piece[]): readonly (readonly Piece[])[] {
  const lines: Piece[][] = [[]];
  for (const { kind, text } of pieces) {
    for (const [index, part] of text.split('\n').entries()) {
      if (index > 0) lines.push([]);
      if (part !== '') lines.at(-1)?.push({ kind, text: part });
    }
  }
  return lines;
}
