/* The table of contents: open where it stands beside the text, and marks the section that is read. */

function followContents(nav) {
  const links = Array.from(nav.querySelectorAll('a')), folded = nav.querySelector('details');
  const beside = window.matchMedia('(min-width: 1340px)');
  const fold = () => { folded.open = beside.matches; };
  const mark = () => {
    let here = null;
    links.forEach((link) => {
      const section = document.querySelector(link.getAttribute('href'));
      if (section && section.getBoundingClientRect().top < window.innerHeight / 3) here = link;
    });
    links.forEach((link) => link.classList.toggle('here', link === here));
  };
  fold();
  mark();
  beside.addEventListener('change', fold);
  window.addEventListener('scroll', mark, {passive: true});
}

document.querySelectorAll('.contents').forEach(followContents);
