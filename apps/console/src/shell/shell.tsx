import { useQueryClient, useSuspenseQuery } from '@tanstack/react-query';
import { getRouteApi, Link, Outlet, useLocation, useNavigate } from '@tanstack/react-router';
import { type JSX, lazy, Suspense, useCallback, useEffect, useMemo, useState } from 'react';
import { meQuery, signOut } from '../api/session.js';
import { Icon } from '../ui/icons.js';
import { useSay } from '../ui/toasts.js';
import mark from './mark.svg';
import { DEVELOPER_PAGES } from './developer-pages.js';
import { type Page, pagesOf } from './pages.js';
import { useShortcuts } from './shortcuts.js';
import { useTheme } from './theme.js';
import './shell.css';

const route = getRouteApi('/shell');
const Palette = lazy(() => import('./palette.js'));

/** The frame of every page but the sign-in: navigation, commands, holder. */
export function Shell(): JSX.Element {
  const [isPaletteOpen, setPaletteOpen] = useState(false);
  const [isMenuOpen, setMenuOpen] = useState(false);
  const openPalette = useCallback(() => setPaletteOpen(true), []);
  const { me } = route.useRouteContext();
  const pages = useMemo(() => pagesOf(me), [me]);
  useShortcuts(pages, openPalette);
  const { pathname } = useLocation();
  useEffect(() => setMenuOpen(false), [pathname]);
  return (
    <div className="shell">
      <a className="skip" href="#main">
        Skip to the page
      </a>
      <header className="top-bar">
        <Brand />
        <button type="button" className="icon-button" aria-label="Commands" onClick={openPalette}>
          <Icon name="search" />
        </button>
        <button
          type="button"
          className="icon-button"
          aria-label="Menu"
          aria-expanded={isMenuOpen}
          onClick={() => setMenuOpen(!isMenuOpen)}
        >
          <Icon name={isMenuOpen ? 'close' : 'menu'} />
        </button>
      </header>
      {isMenuOpen && <div className="side-shade" onClick={() => setMenuOpen(false)} />}
      <Side pages={pages} pathname={pathname} isOpen={isMenuOpen} openPalette={openPalette} />
      <main className="main" id="main" tabIndex={-1}>
        <Outlet />
      </main>
      {isPaletteOpen && (
        <Suspense>
          <Palette pages={pages} onClose={() => setPaletteOpen(false)} />
        </Suspense>
      )}
    </div>
  );
}

const Brand = (): JSX.Element => (
  <Link className="brand" to="/" aria-label="Countersign, first page">
    <img src={mark} alt="" />
    Countersign
  </Link>
);

interface SideProps {
  readonly pages: readonly Page[];
  readonly pathname: string;
  readonly isOpen: boolean;
  readonly openPalette: () => void;
}

/** Whether the path is a page of an account, which owners of the installation open from the page of accounts. */
const isOfAccount = (pathname: string): boolean =>
  DEVELOPER_PAGES.some(({ to }) => pathname === to || pathname.startsWith(`${to}/`));

const Side = ({ pages, pathname, isOpen, openPalette }: SideProps): JSX.Element => (
  <aside className="side" aria-label="Console" data-open={isOpen ? '' : undefined}>
    <Brand />
    <button type="button" className="palette-opener" onClick={openPalette}>
      <Icon name="search" />
      Find or go to
      <kbd>Ctrl K</kbd>
    </button>
    <nav aria-label="Pages">
      <ul>
        {pages.map(({ to, name, icon }) => (
          <li key={to}>
            <Link
              to={to}
              activeProps={{ 'aria-current': 'page' }}
              inactiveProps={to === '/accounts' && isOfAccount(pathname) ? { 'aria-current': 'true' } : {}}
            >
              <Icon name={icon} />
              {name}
            </Link>
          </li>
        ))}
      </ul>
    </nav>
    <div className="side-end">
      <Holder />
    </div>
  </aside>
);

const THEME_NAMES = { auto: 'as the system', light: 'light', dark: 'dark' } as const;
const THEME_ICONS = { auto: 'auto', light: 'sun', dark: 'moon' } as const;

function Holder(): JSX.Element {
  const { data: me } = useSuspenseQuery(meQuery);
  const [theme, nextTheme] = useTheme();
  const client = useQueryClient();
  const navigate = useNavigate();
  const say = useSay();
  const isSignedOut = me === null;
  // The session ended without a refused call: the realtime connection has asked.
  useEffect(() => {
    if (isSignedOut) void navigate({ to: '/sign-in' });
  }, [isSignedOut, navigate]);
  const leave = async (): Promise<void> => {
    try {
      await signOut();
    } catch (error) {
      say(error instanceof Error ? error.message : 'The sign-out failed.', 'bad');
      return;
    }
    client.clear();
    await navigate({ to: '/sign-in' });
  };
  return (
    <div className="holder">
      <div>
        <strong>{me?.name ?? ''}</strong>
        <span>{me?.role ?? ''}</span>
      </div>
      <button
        type="button"
        className="icon-button"
        aria-label={`Theme: ${THEME_NAMES[theme]}`}
        title={`Theme: ${THEME_NAMES[theme]}`}
        onClick={nextTheme}
      >
        <Icon name={THEME_ICONS[theme]} />
      </button>
      <button type="button" className="icon-button" aria-label="Sign out" title="Sign out" onClick={() => void leave()}>
        <Icon name="exit" />
      </button>
    </div>
  );
}
