import { type JSX, useState } from 'react';
import { Button } from '../ui/button.js';
import { curlSample, isLocal, type Sample, typescriptRun, typescriptSample } from './code-samples.js';

const LANGUAGES = [
  ['curl', 'curl'],
  ['typescript', 'TypeScript'],
] as const;

/** Code that runs as it is shown, with a button that copies it. */
export function CodePanel({ sample }: { readonly sample: Sample }): JSX.Element {
  const [language, setLanguage] = useState<(typeof LANGUAGES)[number][0]>('curl');
  const [copied, setCopied] = useState('');
  const code = language === 'curl' ? curlSample(sample) : typescriptSample(sample);
  return (
    <div className="stack">
      <div className="panel-head">
        <div className="tabs code-tabs" role="group" aria-label="Language">
          {LANGUAGES.map(([each, name]) => (
            <button key={each} type="button" aria-pressed={language === each} onClick={() => setLanguage(each)}>
              {name}
            </button>
          ))}
        </div>
        <Button onPress={() => void navigator.clipboard.writeText(code).then(() => setCopied(code))}>
          {copied === code ? 'Copied' : 'Copy the code'}
        </Button>
      </div>
      <pre className="code" tabIndex={0} role="region" aria-label={`The code in ${language}`}>
        <code>{code}</code>
      </pre>
      <p className="soft small">
        {language === 'typescript' && (
          <>
            Save it as <code>quickstart.mts</code> and run <code>{typescriptRun(sample.origin)}</code>.{' '}
          </>
        )}
        {isLocal(sample.origin)
          ? 'Run it in the folder of the clone: its certificate authority is in .data/ca.pem.'
          : 'It runs anywhere.'}
      </p>
    </div>
  );
}
