import type { JSX, ReactNode } from 'react';

export type Tone = 'good' | 'warn' | 'bad' | 'accent' | 'quiet';

export const Badge = ({ tone, children }: { readonly tone: Tone; readonly children: ReactNode }): JSX.Element => (
  <span className="badge" data-tone={tone}>
    {children}
  </span>
);

interface PageProps {
  readonly title: string;
  /** Beside the title, such as a state. */
  readonly aside?: ReactNode;
  readonly lead?: ReactNode;
  readonly actions?: ReactNode;
  /** A link to the page above. */
  readonly above?: ReactNode;
  readonly children: ReactNode;
}

export const Page = ({ title, aside, lead, actions, above, children }: PageProps): JSX.Element => (
  <div className="page">
    <title>{`${title} · Countersign`}</title>
    {above}
    <header className="page-head">
      <div>
        <div className="page-title">
          <h1>{title}</h1>
          {aside}
        </div>
        {lead !== undefined && <p className="page-lead">{lead}</p>}
      </div>
      {actions !== undefined && <div className="page-actions">{actions}</div>}
    </header>
    {children}
  </div>
);

interface PanelProps {
  readonly title: string;
  readonly aside?: ReactNode;
  readonly children: ReactNode;
}

export const Panel = ({ title, aside, children }: PanelProps): JSX.Element => (
  <section className="panel" aria-label={title}>
    <div className="panel-head">
      <h2>{title}</h2>
      {aside}
    </div>
    {children}
  </section>
);

/** Names with their values. */
export const Facts = ({ of }: { readonly of: readonly (readonly [string, ReactNode])[] }): JSX.Element => (
  <dl className="facts">
    {of.map(([name, value]) => (
      <div key={name}>
        <dt>{name}</dt>
        <dd>{value}</dd>
      </div>
    ))}
  </dl>
);
