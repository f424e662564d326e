import './ui/theme.css';
import './ui/controls.css';
import './ui/table.css';
import { QueryClientProvider } from '@tanstack/react-query';
import { RouterProvider } from '@tanstack/react-router';
import { StrictMode } from 'react';
import { createRoot } from 'react-dom/client';
import { createQueries } from './api/queries.js';
import { createConsoleRouter } from './router.js';
import { applyTheme } from './shell/theme.js';
import { Toasts } from './ui/toasts.js';

applyTheme();
const queries = createQueries(() => {
  if (router.state.location.pathname === '/sign-in') return;
  const next = location.pathname.replace(/^\/console/, '') + location.search;
  void router.navigate({ to: '/sign-in', search: { next } });
});
const router = createConsoleRouter(queries);
const root = document.getElementById('root');
if (root === null) throw new Error('index.html has an element #root');
createRoot(root).render(
  <StrictMode>
    <QueryClientProvider client={queries}>
      <Toasts>
        <RouterProvider router={router} />
      </Toasts>
    </QueryClientProvider>
  </StrictMode>,
);
