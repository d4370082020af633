import { render } from 'preact';
import { App } from './app.js';
import './style/index.css';

const root = document.getElementById('root') as HTMLElement;
// What the HTML shows until now.
root.replaceChildren();
render(<App />, root);
