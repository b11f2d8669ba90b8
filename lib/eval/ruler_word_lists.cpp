// Common English words, so that RULER's tasks can be asked without the lists that RULER takes from elsewhere.
#include <algorithm>
#include <string_view>

#include "eval/ruler_words.h"

namespace bam::eval {
namespace {

constexpr std::string_view kNouns =
    "acorn anchor ankle apple apron arch arrow attic autumn badge bakery balcony banner barley barn basin basket beach "
    "beacon bead beam bean bell bench berry bird blanket blossom board boat bonnet book boot bottle boulder bowl "
    "branch "
    "bread breeze brick bridge broom brush bucket bundle butter button cabin cable cake camera camp candle canoe "
    "canvas "
    "carpet carriage cart castle cedar cellar chain chair chalk chapel cheese cherry chest chimney circle clay cliff "
    "clock cloth cloud clover coal coast coat coin collar comb compass copper coral corner cottage cotton couch cradle "
    "crane crayon creek crown cup curtain cushion daisy dawn deck desk diamond dinner dish ditch dock door dove drawer "
    "dress drum duck dune eagle earring easel echo elbow elm engine envelope evening fabric falcon farm feather fence "
    "ferry field fig finch finger fireplace flag flame flask flute forest fork fountain fox frame garden garlic gate "
    "ginger glacier glass glove goat gravel grove guitar hammer hammock harbor harp harvest hat hawk hazel hedge "
    "helmet "
    "hill hinge honey hood hook horn horse hotel island ivory ivy jacket jar jewel journal jug kettle key kitchen kite "
    "knot ladder lake lamp lantern lark lawn leaf leather lemon lentil letter library lily linen lizard locket log "
    "loom "
    "lunch magnet mango map maple marble market marsh mast meadow melon mill mint mirror mitten moon moss mountain "
    "mouse mug museum mushroom napkin necklace needle nest net notebook nutmeg oak oar oasis oat ocean olive onion "
    "orchard otter oven owl oyster paddle paint palace paper parcel park parrot path peach pear pearl pebble pencil "
    "pepper piano picture pier pigeon pillow pine pipe planet plate plum pocket pond pony porch portrait pot potato "
    "prairie pumpkin puzzle quarry quill quilt rabbit raft rain rake ranch raven reef ribbon rice ring river road "
    "robin "
    "rock roof rope rose rug saddle sail salad salt sand satchel saucer scarf school seed shawl shed sheep shelf shell "
    "shirt shoe shore shovel silk silver skirt sled sleeve slipper smoke snail snow soap sofa soup sparrow spice "
    "spider "
    "spoon spring stable staircase stamp star station statue stone storm stove straw stream street string sugar summer "
    "sunset swan table tailor tea teapot temple tent theater thimble thistle thread thumb ticket tiger timber toast "
    "tomato torch tower town toy trail train tray tree trunk tulip tunnel turnip turtle umbrella valley vase velvet "
    "village vine violet violin wagon wall walnut water wave whale wheat wheel whistle willow window wing winter wolf "
    "wool yard yarn zebra";

constexpr std::string_view kAdjectives =
    "able ancient autumnal bare bitter blue bold brave brief bright brisk broad brown busy calm careful cautious "
    "cheerful chilly clean clear clever close coarse cold common cool cosy crisp curious curly damp dark dear deep "
    "delicate dense dim dry dull dusty eager early easy elegant empty even fair faithful famous fast fierce fine firm "
    "flat fond fragile free fresh friendly full gentle giant glad golden graceful grand grateful gray great green "
    "happy "
    "hard harsh heavy hidden high hollow honest huge humble hungry icy idle keen kind large late lazy light little "
    "lively lonely long loose loud loyal lucky mellow merry mighty mild modern modest muddy narrow neat new nimble "
    "noble "
    "odd old open orange pale patient plain playful pleasant polite proud pure purple quick quiet rapid rare ready red "
    "restless rich ripe rough round royal rusty sandy scarce secret serious shallow sharp shiny short shy silent "
    "simple "
    "slender slim slow small smooth soft solid sour spare stable steady steep stern stiff still straight strange "
    "strong "
    "sturdy subtle sudden sunny sweet swift tall tame tender thick thin tidy tight tiny tough tranquil true vast warm "
    "wary weak wet whole wide wild wise witty wooden yellow young zealous";

constexpr std::string_view kVerbs =
    "accept add admire agree allow answer appear argue arrive ask bake balance begin belong bend borrow bounce break "
    "breathe bring build buy call carry catch cause celebrate change chase choose climb collect come compare complain "
    "cook copy count cover crawl create cross dance decide deliver describe dig discover draw dream drink drive earn "
    "eat "
    "enjoy enter escape examine expect explain explore fall feed feel fetch fill find finish float fly fold follow "
    "forget forgive gather give go grow guess guide happen hear help hide hold hope hurry imagine improve invite join "
    "jump keep kneel knit knock know laugh lead learn leave lend lift listen live look lose love make manage measure "
    "meet melt mend mix move notice obey observe offer order paddle pay perform pick plan plant play pour practice "
    "praise prepare pretend promise protect pull push reach read receive remember repair repeat reply rescue rest "
    "return ride rise roll run sail save scatter search seem sell send serve settle sew shake share shine shout show "
    "sing sit sleep slide smell smile solve speak spend spin stand stay stir stop stretch study succeed suggest supply "
    "support surprise swim take talk taste teach tell thank think throw tie touch trade travel try turn understand "
    "unite visit wait wake walk wander want wash watch wear weave whisper win wish wonder work worry wrap write yawn";

std::vector<std::string> words_of(std::string_view text) {
  std::vector<std::string> words;
  for (std::size_t begin = 0; begin < text.size();) {
    const std::size_t end = std::min(text.find(' ', begin), text.size());
    words.emplace_back(text.substr(begin, end - begin));
    begin = end + 1;
  }
  return words;
}

}  // namespace

const WordLists& built_in_words() {
  static const WordLists lists = {.name = "built-in",
                                  .nouns = words_of(kNouns),
                                  .adjectives = words_of(kAdjectives),
                                  .verbs = words_of(kVerbs),
                                  .more = {}};
  return lists;
}

}  // namespace bam::eval
