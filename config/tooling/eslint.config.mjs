import js from '@eslint/js';
import { defineConfig, globalIgnores } from 'eslint/config';
import tseslint from 'typescript-eslint';

const root = new URL('../..', import.meta.url).pathname;

const nodeGlobals = Object.fromEntries(
  [
    'Buffer',
    'URL',
    'clearInterval',
    'clearTimeout',
    'console',
    'fetch',
    'performance',
    'process',
    'setImmediate',
    'setInterval',
    'setTimeout',
    'AbortSignal',
    'AbortController',
  ].map((name) => [name, 'readonly']),
);

// Which folder may import which is checked by dependency-cruiser, not here.
export default defineConfig(
  globalIgnores([
    '**/dist/**',
    '**/node_modules/**',
    '**/.data/**',
    '**/coverage/**',
    'apps/console/src/api/schema.d.ts',
  ]),
  js.configs.recommended,
  {
    files: ['**/*.ts', '**/*.tsx', '**/*.mts'],
    extends: [tseslint.configs.strictTypeChecked],
    languageOptions: {
      parserOptions: { project: ['config/tooling/tsconfig.check.json'], tsconfigRootDir: root },
    },
    rules: {
      // "import type" of an injected class removes the metadata that Nest reads.
      '@typescript-eslint/consistent-type-imports': 'off',
      // Nest modules are classes without members; decorators carry what they say.
      '@typescript-eslint/no-extraneous-class': ['error', { allowWithDecorator: true }],
      '@typescript-eslint/restrict-template-expressions': ['error', { allowNumber: true, allowBoolean: true }],
      '@typescript-eslint/no-unused-vars': ['error', { argsIgnorePattern: '^_', varsIgnorePattern: '^_' }],
      '@typescript-eslint/no-confusing-void-expression': ['error', { ignoreArrowShorthand: true }],
      'max-lines': ['error', { max: 400, skipBlankLines: true, skipComments: true }],
      'max-lines-per-function': ['error', { max: 60, skipBlankLines: true, skipComments: true }],
    },
  },
  {
    files: ['apps/console/src/**/*.ts', 'apps/console/src/**/*.tsx'],
    languageOptions: { parserOptions: { project: ['apps/console/tsconfig.json'] } },
    rules: {
      // TanStack Router ends a load with a thrown redirect.
      '@typescript-eslint/only-throw-error': 'off',
    },
  },
  {
    files: ['**/*.spec.ts', 'test/**/*.ts'],
    rules: {
      // A describe block is a chapter, not a function.
      'max-lines-per-function': 'off',
    },
  },
  { files: ['**/*.mjs', '**/*.cjs'], languageOptions: { globals: nodeGlobals } },
);
