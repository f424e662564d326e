export { candidateRoutes, RouteDirectory, type CandidateRoute, type OpenRoute } from './route.directory.js';
export { type Route, RouteEntity, ROUTES } from './route.entity.js';
export { routesInOrder } from './route.js';
